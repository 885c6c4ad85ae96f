package io.firesteel.panes

import io.firesteel.core.room.Room
import io.firesteel.core.room.Phase.{Hints, Planner, PreCBO, Resolution}

/** Aggregates over sliding windows, merged from shared panes. */
object PanesRoom
  extends Room(
    name = "panes",
    settings = PanesConf.all,
    declines = PanesDecline.docs,
    injections = Seq(
      // Before Spark expands windows into copies.
      Hints(session => new FoldWindows(session)),
      Resolution(_ => ResolveFoldedWindows),
      PreCBO(session => new KeepFoldedWindows(session)),
      PreCBO(_ => DeclineStreamingPanes),
      Planner(_ => PlanPanes),
      Planner(_ => PlanWindowCopies)
    )
  )

package io.firesteel.lookup

import io.firesteel.core.parse.AsDelegate
import io.firesteel.core.room.Room
import io.firesteel.core.room.Phase.{Check, Hints, Parser, Planner, PostHocResolution, PreCBO, Resolution, TableFunction}

/** Lookup joins. */
object LookupRoom
  extends Room(
    name = "lookup",
    settings = LookupConf.all,
    declines = Nil,
    injections = Seq(
      // Flink's LOOKUP hint and time columns; any other text is passed to the delegate unchanged.
      Parser((_, delegate) => AsDelegate(new LookupParser(delegate), delegate)),
      TableFunction(PythonLookupFunction.description),
      // Before Spark resolves relations.
      Hints(session => new ResolveLookupHint(session)),
      // For bodies of views that another extension puts in among these rules.
      Resolution(session => new ResolveLookupHint(session)),
      Resolution(session => new ResolveLookupTable(session)),
      PostHocResolution(_ => RefuseUntakenHint),
      Check(session => plan => CheckLookupJoin(session)(plan)),
      PreCBO(_ => UnmarkSwitchedOff),
      PreCBO(_ => LiftOffDimension),
      // The last one handles relations that no join has taken, and raises the error.
      Planner(_ => UnpruneByLookup),
      Planner(_ => PlanLookupJoin),
      Planner(_ => RefuseBareLookup)
    )
  )

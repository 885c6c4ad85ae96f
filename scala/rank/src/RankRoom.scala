package io.firesteel.rank

import io.firesteel.core.room.Room
import io.firesteel.core.room.Phase.{Columnar, Planner}

/** The first n rows per key with bounded heaps. */
object RankRoom
  extends Room(
    name = "rank",
    settings = RankConf.all,
    declines = RankDecline.docs,
    injections = Seq(
      Planner(new PlanTopN(_)),
      Columnar(_ => RemoveRedundantPartialTopN)))

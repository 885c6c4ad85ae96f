package io.firesteel.shuffle

import io.firesteel.core.room.Room
import io.firesteel.core.room.Phase.{Columnar, QueryStagePrep}

/** Shuffles that a coarser one makes needless, and the gate that says when. */
object ShuffleRoom
  extends Room(
    name = "shuffle",
    settings = ShuffleConf.all,
    declines = ShuffleDecline.docs,
    injections = Seq(
      QueryStagePrep(session => new RemoveRedundantShuffle(session)),
      Columnar(session => new RemoveRedundantShuffle.WithoutAdaptive(session)))
  )

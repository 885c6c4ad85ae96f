package io.firesteel.shuffle

import io.firesteel.core.room.Room
import io.firesteel.core.room.Phase.{Columnar, QueryStagePrep}

/** Removes shuffles that a shuffle by fewer keys makes redundant, if the keys allow it. */
object ShuffleRoom
  extends Room(
    name = "shuffle",
    settings = ShuffleConf.all,
    declines = ShuffleDecline.docs,
    injections = Seq(
      QueryStagePrep(session => new RemoveRedundantShuffle(session)),
      Columnar(session => new RemoveRedundantShuffle.WithoutAdaptive(session)))
  )

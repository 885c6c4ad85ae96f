package io.firesteel.sinks

import io.firesteel.core.room.Room

/** Tables kept equal to a changelog. This room changes no plan: users name its data source. */
object SinksRoom
  extends Room(name = "sinks", settings = Nil, declines = Nil, injections = Nil)

package io.firesteel.json

import io.firesteel.core.room.Phase.{Columnar, Planner, PreCBO}
import io.firesteel.core.room.Room
import io.firesteel.json.files.ReadJsonFiles

/** JSON documents read once, straight into binary rows. */
object JsonRoom
  extends Room(
    name = "json",
    settings = JsonConf.all,
    declines = JsonDecline.docs,
    injections = Seq(
      // After Spark has pruned schemas and moved filters; later rules would separate a scan from
      // its readers no more.
      PreCBO(_ => FuseJson),
      Planner(_ => DeclineJson),
      Planner(_ => ReadJsonFiles),
      Columnar(_ => CountJson)
    )
  )

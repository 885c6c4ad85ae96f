package io.firesteel.json

import io.firesteel.core.CoreConf
import io.firesteel.testkit.RoomSuite

import org.apache.spark.sql.SparkSessionExtensions

/** The room alone, without the other rooms. */
abstract class JsonSuite extends RoomSuite {

  require((CoreConf.all ++ JsonConf.all).nonEmpty, "reading the settings registers them")

  override protected def install(extensions: SparkSessionExtensions): Unit =
    JsonRoom.install(extensions)
}

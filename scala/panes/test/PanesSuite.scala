package io.firesteel.panes

import io.firesteel.core.CoreConf
import io.firesteel.testkit.RoomSuite
import org.apache.spark.sql.SparkSessionExtensions

/** The room alone: its tests neither need nor see the others. */
abstract class PanesSuite extends RoomSuite {

  require((CoreConf.all ++ PanesConf.all).nonEmpty, "reading the settings registers them")

  override protected def install(extensions: SparkSessionExtensions): Unit =
    PanesRoom.install(extensions)
}

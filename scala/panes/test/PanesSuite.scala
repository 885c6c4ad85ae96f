package io.firesteel.panes

import io.firesteel.core.CoreConf
import io.firesteel.testkit.RoomSuite
import org.apache.spark.sql.SparkSessionExtensions

/** Tests of this room run without the other rooms. */
abstract class PanesSuite extends RoomSuite {

  require((CoreConf.all ++ PanesConf.all).nonEmpty, "reading the settings registers them")

  override protected def install(extensions: SparkSessionExtensions): Unit =
    PanesRoom.install(extensions)
}

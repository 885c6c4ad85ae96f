package io.firesteel.rank

import io.firesteel.core.CoreConf
import io.firesteel.testkit.RoomSuite
import org.apache.spark.sql.SparkSessionExtensions

/** Tests of this room run without the other rooms. */
abstract class RankSuite extends RoomSuite {

  require((CoreConf.all ++ RankConf.all).nonEmpty, "reading the settings registers them")

  override protected def install(extensions: SparkSessionExtensions): Unit =
    RankRoom.install(extensions)
}

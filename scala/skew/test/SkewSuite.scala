package io.firesteel.skew

import io.firesteel.core.CoreConf
import io.firesteel.testkit.RoomSuite
import org.apache.spark.sql.SparkSessionExtensions

/** The room alone, without the other rooms. */
abstract class SkewSuite extends RoomSuite {

  require((CoreConf.all ++ SkewConf.all).nonEmpty, "reading the settings registers them")

  override protected def install(extensions: SparkSessionExtensions): Unit =
    SkewRoom.install(extensions)

  /**
   * Settings that make a task take each of its paths: hold nothing, judge early, hold everything.
   */
  protected val ways: Seq[Seq[(String, Any)]] = Seq(
    Nil,
    Seq(SkewConf.MAX_TASK_MEMORY.key -> 1),
    Seq(SkewConf.SAMPLE_VALUES.key -> 10, SkewConf.MAX_NEW_VALUES.key -> 0.0),
    Seq(SkewConf.SAMPLE_VALUES.key -> 10, SkewConf.MAX_TASK_MEMORY.key -> 1)
  )
}

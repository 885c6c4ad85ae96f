package io.firesteel.panes

import org.apache.spark.network.util.ByteUnit
import org.apache.spark.sql.firesteel.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/** Settings of the room. */
object PanesConf {

  val ENABLED: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.panes.enabled")
      .doc("Whether aggregates over sliding windows read each row once, into a pane, and build " +
        "windows from panes, instead of copying each row into every window that it belongs to.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val MIN_OVERLAP: ConfigEntry[Double] =
    SQLConf
      .buildConf("spark.firesteel.panes.minOverlap")
      .doc("Windows per row, that is size / slide, from which on the room fires.")
      .version("0.1.0")
      .doubleConf
      .checkValue(_ >= 1, "must be at least 1")
      .createWithDefault(2.0)

  val FOLD_FROM: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.firesteel.panes.foldFrom")
      .doc(
        "Windows per row from which on Spark's analyser and optimizer see one expression for all " +
          "windows of a row, instead of one for each. Planning is then as quick for a day by a second " +
          "as for a day by an hour.")
      .version("0.1.0")
      .longConf
      .checkValue(_ >= 2, "must be at least 2")
      .createWithDefault(16L)

  val MAX_TASK_MEMORY: ConfigEntry[Option[Long]] =
    SQLConf
      .buildConf("spark.firesteel.panes.maxTaskMemory")
      .doc("Bytes that panes may hold in each operator of a task, beside what Spark's memory " +
        "manager grants. Refused, panes are sent on in parts, and a window is merged anew from " +
        "its panes, whose number then counts.")
      .version("0.1.0")
      .bytesConf(ByteUnit.BYTE)
      .checkValue(_ > 0, "must be positive")
      .createOptional

  val all: Seq[ConfigEntry[_]] = Seq(ENABLED, MIN_OVERLAP, FOLD_FROM, MAX_TASK_MEMORY)
}

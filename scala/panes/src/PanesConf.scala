package io.firesteel.panes

import org.apache.spark.network.util.ByteUnit
import org.apache.spark.sql.firesteel.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/** Settings of the room. */
object PanesConf {

  val ENABLED: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.panes.enabled")
      .doc("Whether queries over sliding windows aggregate each row once, into a pane, and merge " +
        "windows from panes, instead of copying each row into every window that it belongs to.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val MIN_OVERLAP: ConfigEntry[Double] =
    SQLConf
      .buildConf("spark.firesteel.panes.minOverlap")
      .doc("Smallest number of windows per row, which is size / slide, for which the rule fires.")
      .version("0.1.0")
      .doubleConf
      .checkValue(_ >= 1, "must be at least 1")
      .createWithDefault(2.0)

  val FOLD_FROM: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.firesteel.panes.foldFrom")
      .doc(
        "Smallest number of windows per row for which Spark's analyser and optimizer see one " +
          "expression for all windows of a row instead of one for each. Planning then takes as " +
          "long for a day by a second as for a day by an hour.")
      .version("0.1.0")
      .longConf
      .checkValue(_ >= 2, "must be at least 2")
      .createWithDefault(16L)

  val MAX_TASK_MEMORY: ConfigEntry[Option[Long]] =
    SQLConf
      .buildConf("spark.firesteel.panes.maxTaskMemory")
      .doc("Largest number of bytes that each operator's panes hold in a task. Above it the " +
        "operators emit panes in parts, and each window is merged from all of its panes, which " +
        "is slower. Not set: Spark's memory manager alone is the limit.")
      .version("0.1.0")
      .bytesConf(ByteUnit.BYTE)
      .checkValue(_ > 0, "must be positive")
      .createOptional

  val all: Seq[ConfigEntry[_]] = Seq(ENABLED, MIN_OVERLAP, FOLD_FROM, MAX_TASK_MEMORY)
}

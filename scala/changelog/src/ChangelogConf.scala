package io.firesteel.changelog

import org.apache.spark.sql.firesteel.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/** Settings of the room. */
object ChangelogConf {

  val ENABLED: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.changelog.enabled")
      .doc(
        "Whether a streaming query that Spark refuses, or that selects `row_kind()`, runs as a " +
          "changelog. A query started with it needs it at every restart.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val MAX_BUFFERED_ROWS: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.firesteel.changelog.maxBufferedRows")
      .doc("Most keys, distinct values and rows that an operator folds in a task before it hands " +
        "its net changes on; it also does when Spark's memory manager refuses more. The answer is " +
        "the same, with more than one change of a key in a micro-batch.")
      .version("0.1.0")
      .intConf
      .checkValue(_ > 0, "must be positive")
      .createWithDefault(4000000)

  val all: Seq[ConfigEntry[_]] = Seq(ENABLED, MAX_BUFFERED_ROWS)
}

package io.firesteel.changelog.common

import java.util.concurrent.TimeUnit

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

  val STATE_TTL: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.firesteel.changelog.stateTtl")
      .doc("How long an entry of state is kept after it was last written, such as 1d; 0, forever. " +
        "What expires is as if it had never been: nothing is told of it, its key begins anew, and that " +
        "it goes, said later, is counted, logged once and ignored. A query started with it needs " +
        "some at every restart, and one started without it none. The hint STATE_TTL says it for a part of " +
        "a query.")
      .version("0.1.0")
      .timeConf(TimeUnit.MILLISECONDS)
      .checkValue(_ >= 0, "must not be negative")
      .createWithDefault(0L)

  val DISTINCT_BUCKETS: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.firesteel.changelog.distinctBuckets")
      .doc(
        "Into how many parts the DISTINCT values of a group are split, so that one group with most " +
          "of the values keeps several tasks busy, at the cost of a second aggregate over the parts; 0, " +
          "none. A query that goes on from a checkpoint must have the number with which it was started.")
      .version("0.1.0")
      .intConf
      .checkValue(n => n >= 0 && n <= 65536, "must be from 0 to 65536")
      .createWithDefault(0)

  val all: Seq[ConfigEntry[_]] = Seq(ENABLED, MAX_BUFFERED_ROWS, STATE_TTL, DISTINCT_BUCKETS)
}

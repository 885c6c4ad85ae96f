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
        "Whether firesteel runs streaming queries that Spark refuses, that select `row_kind()` " +
          "or that read a changelog. A query started with it needs it at every restart.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val MAX_BUFFERED_ROWS: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.firesteel.changelog.maxBufferedRows")
      .doc("Maximum number of keys, distinct values and rows that an operator folds in a task. " +
        "With more, or if Spark's memory manager refuses more memory, the operator emits its net " +
        "changes and starts again. The folded result stays the same, but a key may change more " +
        "than once in a micro-batch.")
      .version("0.1.0")
      .intConf
      .checkValue(_ > 0, "must be positive")
      .createWithDefault(4000000)

  val STATE_TTL: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.firesteel.changelog.stateTtl")
      .doc("Time to live of a state entry after its last write, such as 1d; 0 keeps state " +
        "forever. Expired state emits nothing. A key that appears again starts with +I. A late " +
        "retraction of an expired row is ignored, counted and logged once. A query started with " +
        "a time to live needs one at every restart, and a query started without one must stay " +
        "without. The hint STATE_TTL sets it for a part of a query.")
      .version("0.1.0")
      .timeConf(TimeUnit.MILLISECONDS)
      .checkValue(_ >= 0, "must not be negative")
      .createWithDefault(0L)

  val DISTINCT_BUCKETS: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.firesteel.changelog.distinctBuckets")
      .doc(
        "Number of parts into which the DISTINCT values of a group are split; 0 does not " +
          "split. Several tasks then share a group with most of the values, at the cost of a " +
          "second aggregate over the parts. A restart must use the number with which the query " +
          "was started.")
      .version("0.1.0")
      .intConf
      .checkValue(n => n >= 0 && n <= 65536, "must be from 0 to 65536")
      .createWithDefault(0)

  val REMOVE_SHUFFLES: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.changelog.removeShuffles")
      .doc(
        "Whether an operator reads rows where the operator below left them if that lies by the " +
          "same keys, without a shuffle. It counts at a query's first start; a checkpoint keeps " +
          "what it began with.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val PARTIAL_KEY: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.changelog.shuffleByPartialKey.enabled")
      .doc("Whether an operator is distributed by some of its keys if the operator above has only " +
        "these: one shuffle less, but the rows of these keys are in one task. Use it if these keys " +
        "have many values and none has too many rows. It counts at a query's first start; a " +
        "checkpoint keeps what it began with.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(false)

  val MULTIPLE_INPUT: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.changelog.multipleInput.enabled")
      .doc(
        "Whether operators without a shuffle between them share one state store and run in one " +
          "task. It counts at a query's first start; a checkpoint keeps what it began with.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val REUSE_SUB_PLAN: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.changelog.reuseSubPlan.enabled")
      .doc(
        "Whether a part with state that a query reads several times, such as a view in a UNION " +
          "ALL or in a self join, is computed once in each micro-batch, with one state (Flink: " +
          "table.optimizer.reuse-sub-plan-enabled). It counts at a query's first start; a " +
          "checkpoint keeps what it began with. A statement set always shares.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val PANES: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.changelog.panes.enabled")
      .doc(
        "Whether an aggregate over overlapping windows keeps each row once, in a pane, instead of " +
          "once in each of its windows. In update mode and with `row_kind()` no watermark is " +
          "needed. It counts at a query's first start; a checkpoint keeps what it began with.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val PANES_MIN_OVERLAP: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.firesteel.changelog.panes.minOverlap")
      .doc("Smallest number of windows per row, which is size / slide, for which an aggregate " +
        "over `window(time, size, slide)` that Spark runs by itself is run over panes, in append " +
        "and update mode, and one whose windows change. It counts at a query's first start; a " +
        "checkpoint keeps what it began with.")
      .version("0.1.0")
      .longConf
      .checkValue(_ >= 2, "must be at least 2")
      .createWithDefault(8L)

  val PAGED_STATE: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.changelog.pagedState.enabled")
      .doc(
        "Whether state that Spark's HDFSBackedStateStoreProvider would keep in memory is kept as " +
          "bytes in large arrays, of which a micro-batch touches what it changes. The files in the " +
          "checkpoint are the same, so it may be changed at any restart.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val all: Seq[ConfigEntry[_]] = Seq(
    ENABLED,
    MAX_BUFFERED_ROWS,
    STATE_TTL,
    DISTINCT_BUCKETS,
    REMOVE_SHUFFLES,
    PARTIAL_KEY,
    MULTIPLE_INPUT,
    REUSE_SUB_PLAN,
    PANES,
    PANES_MIN_OVERLAP,
    PAGED_STATE)
}

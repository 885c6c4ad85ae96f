package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}

import java.sql.Timestamp

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.streaming.StateOperatorProgress
import org.apache.spark.sql.types.StructType

/** Duplicates that Spark leaves out, below an operator of ours. */
class DuplicatesBelowSuite extends ChangelogSuite {

  private val schema = StructType.fromDDL("ts TIMESTAMP, k STRING, v INT")
  private val sql = "SELECT v, count(DISTINCT k) AS d, count(*) AS n FROM {t} GROUP BY v"

  private def row(minute: Int, k: String, v: Int) =
    Row(Timestamp.valueOf(f"2026-01-01 ${12 + minute / 60}%02d:${minute % 60}%02d:00"), k, v)

  private def within(rows: DataFrame): DataFrame =
    if (rows.isStreaming) rows.dropDuplicatesWithinWatermark("k") else rows.dropDuplicates("k")

  private def withStream(prepared: DataFrame => DataFrame, query: String = sql)(
      body: ChangelogStream => Any): Unit = {
    val fed = new ChangelogStream(
      spark,
      schema,
      query,
      watermark = Some("ts" -> "10 minutes"),
      prepared = prepared)
    try { val _ = body(fed) }
    finally fed.stop()
  }

  /** Spark's own operator of the last micro-batch with state. */
  private def sparks(fed: ChangelogStream): StateOperatorProgress =
    fed.running.recentProgress.filter(_.stateOperators.nonEmpty).last.stateOperators
      .find(_.operatorName.startsWith("dedupe")).get

  for {
    (name, prepared) <- Seq[(String, DataFrame => DataFrame)](
      "by a key" -> (_.dropDuplicates("k")),
      "by a key within the watermark" -> within)
    provider <- providers
  } test(s"duplicates are left out once, $name, over restarts, ${provider.split('.').last}") {
    withProvider(provider)(withStream(prepared) { fed =>
      fed.start()
      fed.feed(Seq(row(0, "a", 1), row(1, "a", 1), row(1, "b", 1)))
      assert(fed.difference.isEmpty, fed.difference)
      fed.restart()
      fed.feed(Seq(row(2, "a", 1), row(2, "c", 2)))
      assert(fed.difference.isEmpty, fed.difference)
    })
  }

  test(
    "what the watermark has passed leaves Spark's state and ours, and its late rows are left out") {
    val windows =
      "SELECT window(ts, '1 hour') AS w, count(DISTINCT v) AS d FROM {t} GROUP BY window(ts, '1 hour')"
    withStream(_.dropDuplicates("k", "ts"), windows) { fed =>
      fed.start()
      fed.feed((0 until 20).map(i => row(i, s"k$i", i)))
      fed.feed(Seq(row(300, "x", 1)))
      fed.restart()
      fed.feed(Seq(row(301, "x", 1)))
      val operators =
        fed.running.recentProgress.filter(_.stateOperators.nonEmpty).last.stateOperators
      assert(
        operators.length == 2 && operators.forall(_.numRowsTotal <= 4),
        operators.mkString(" "))
      val told = fed.emitted.size
      fed.feed(Seq(row(3, "late", 1)))
      assert(fed.emitted.size == told && sparks(fed).numRowsDroppedByWatermark >= 1)
    }
  }

  test("in update and in complete mode, too") {
    withStream(_.dropDuplicates("k")) { fed =>
      fed.startAs("update", sql)
      fed.feed(Seq(row(0, "a", 1), row(1, "a", 1)))
      fed.feed(Seq(row(1, "a", 1), row(2, "b", 1)))
      assert(fed.emitted.mkString(" ") == "[1,1,1] [1,2,2]")
    }
    withStream(_.dropDuplicates("k")) { fed =>
      fed.startAs("complete", sql)
      fed.feed(Seq(row(0, "a", 1), row(1, "a", 1)))
      fed.feed(Seq(row(1, "a", 1), row(2, "b", 2)))
      assertSameRows(fed.last, Seq(Row(1, 1L, 1L), Row(2, 1L, 1L)), "complete")
    }
  }
}

package io.firesteel.changelog.windows

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}

import java.sql.Timestamp

import org.apache.spark.sql.{AnalysisException, Row}
import org.apache.spark.sql.types.StructType

/** Windows of a table of changes with a watermark: they answer once, with what was not late. */
class ChangingWindowsSuite extends ChangelogSuite {

  private val schema = StructType.fromDDL("ts TIMESTAMP, id INT, k STRING, v INT, op STRING")
  private val start = Timestamp.valueOf("2026-01-01 12:00:00").getTime

  private def row(second: Int, id: Int, k: String, v: Int, op: String = "+I"): Row =
    Row(new Timestamp(start + second * 1000L), id, k, v, op)

  private val batches = Seq(
    Seq(row(1, 1, "a", 1), row(2, 2, "a", 2), row(11, 3, "b", 3), row(3, 4, "c", 9)),
    // A deletion, and an update of a value.
    Seq(row(2, 2, "a", 2, "-D"), row(11, 3, "b", 3, "-U"), row(11, 3, "b", 5, "+U")),
    // The watermark closes the first window. The group of c is gone by then.
    Seq(row(3, 4, "c", 9, "-D"), row(16, 5, "b", 1)),
    // Late: a deletion and a row of the closed window.
    Seq(row(1, 1, "a", 1, "-D"), row(4, 6, "a", 7), row(12, 7, "b", 1)),
    Seq(row(60, 8, "z", 0))
  )

  private def emitted(
      sql: String,
      mode: String,
      watermark: Boolean = true): Seq[String] = {
    val delay = if (watermark) Some("ts" -> "5 seconds") else None
    val fed = new ChangelogStream(spark, schema, sql, watermark = delay)
    val text = if (sql.contains("row_kind")) sql else s"SELECT *, '+I' AS op FROM ($sql)"
    try {
      fed.startAs(mode, text)
      batches.zipWithIndex.foreach { case (rows, i) =>
        if (i == 2 && watermark) {
          fed.stop()
          fed.startAs(mode, text)
        }
        fed.feed(rows)
      }
      fed.feed(Nil)
      fed.emitted.map(_.toString.replace(",+I]", "]")).toSeq
    } finally fed.stop()
  }

  private val sources = Seq(
    "from_changelog(TABLE({t}), op => 'op')",
    "from_changelog(TABLE({t}), op => 'op', keys => array('id'))")

  test("sliding windows that tell each change close, too") {
    val window = "window(ts, '8 seconds', '1 second')"
    val sql = s"SELECT k, count(*) AS n, second($window.start) AS at, row_kind() AS op FROM " +
      s"${sources.head} GROUP BY k, $window"
    for (provider <- providers) withProvider(provider) {
      val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "5 seconds"))
      try {
        fed.startAs("append", sql)
        Seq(row(1, 1, "a", 1), row(100, 2, "z", 1), row(101, 3, "z", 1)).foreach(r =>
          fed.feed(Seq(r)))
        val before = fed.emitted.size
        fed.feed(Seq(row(1, 1, "a", 1, "-D")))
        assert(before == 8 + 8 + 15 && fed.emitted.size == before)
        val late = fed.running.recentProgress.flatMap(_.stateOperators)
        assert(late.map(_.numRowsDroppedByWatermark).sum == 1)
        assert(fed.running.lastProgress.stateOperators.map(_.numRowsTotal).sum < 5)
      } finally fed.stop()
    }
  }

  test("TUMBLE, and GROUP BY window in append mode") {
    val wanted = Seq("[a,1,1,0]", "[b,3,7,10]")
    for (source <- sources; (provider, i) <- providers.zipWithIndex) withProvider(provider) {
      val windows = s"TUMBLE(TABLE(SELECT * FROM $source), DESCRIPTOR(ts), INTERVAL '10' SECOND)"
      val sql = "SELECT k, count(*) AS n, sum(v) AS s, second(window_start) AS at FROM " +
        s"$windows GROUP BY k, window_start, window_end"
      assert(emitted(sql, if (i == 0) "append" else "update").sorted == wanted, source)
      assert(
        emitted(
          s"SELECT k, count(*) AS n, sum(v) AS s, second(window(ts, '10 seconds').start) AS at FROM $source " +
            "GROUP BY k, window(ts, '10 seconds')",
          "append").sorted == wanted,
        source
      )
    }
  }

  test("overlapping windows keep groups, and a ranking of windows changes as rows do") {
    val hop = s"HOP(TABLE(SELECT * FROM ${sources.head}), DESCRIPTOR(ts), INTERVAL '1' SECOND, " +
      "INTERVAL '10' SECOND)"
    val all = emitted(
      s"SELECT k, count(DISTINCT v) AS n, second(window_end) AS at FROM $hop GROUP BY k, window_start, window_end",
      "append")
    assert(all.contains("[a,1,2]") && all.contains("[b,2,17]"), all)
    val tumble =
      s"TUMBLE(TABLE(SELECT * FROM ${sources.last}), DESCRIPTOR(ts), INTERVAL '10' SECOND)"
    val ranked = emitted(
      "SELECT k, v, row_kind() AS op FROM (SELECT *, row_number() OVER (PARTITION BY window_start, " +
        s"window_end ORDER BY v DESC) AS place FROM $tumble) WHERE place = 1",
      "append"
    )
    assert(ranked.exists(_.endsWith("-U]")), ranked)
  }

  test("a watermark above a filter of the table of changes is refused") {
    val fed = new ChangelogStream(spark, schema, "")
    spark.sql(fed.reading(s"SELECT * FROM ${sources.head} WHERE v > 0"))
      .withWatermark("ts", "5 seconds").createOrReplaceTempView("filtered_changes")
    val error = intercept[AnalysisException](fed.startAs(
      "append",
      "SELECT count(*) FROM filtered_changes GROUP BY window(ts, '10 seconds')"))
    assert(error.getMessage.contains("write it on the source"))
  }

  test("a watermark on the table of changes is one on its rows") {
    sources.foreach { source =>
      val fed = new ChangelogStream(spark, schema, "")
      try {
        spark.sql(fed.reading(s"SELECT * FROM $source")).withWatermark("ts", "5 seconds")
          .createOrReplaceTempView("marked_changes")
        fed.startAs(
          "append",
          "SELECT k, count(*) AS n, second(window(ts, '10 seconds').start) AS at, '+I' AS op FROM marked_changes " +
            "GROUP BY k, window(ts, '10 seconds')"
        )
        batches.foreach(fed.feed)
        fed.feed(Nil)
        assert(fed.emitted.map(_.toString).sorted == Seq("[a,1,0,+I]", "[b,3,10,+I]"), source)
      } finally fed.stop()
    }
  }
}

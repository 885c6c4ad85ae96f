package io.firesteel.changelog.windows

import java.sql.Timestamp

import io.firesteel.changelog.ChangelogStream

import org.apache.spark.sql.Row

/** Several windows in one query, and what stands between windows and the operators above them. */
class WindowPlansSuite extends ClosedWindows {

  private val tumble = "TUMBLE(TABLE({t}), DESCRIPTOR(ts), INTERVAL '20' SECOND)"

  private def changes(sql: String) = s"SELECT *, '+I' AS op FROM ($sql)"

  test("a condition that is false for a whole micro-batch leaves no operator out") {
    val counts =
      s"SELECT window_start, window_end, k, count(*) AS n FROM $tumble GROUP BY window_start, window_end, k"
    Seq(
      s"$counts HAVING count(*) > 1 AND current_date() < DATE'2000-01-01'",
      s"$counts HAVING count(*) > CAST(NULL AS INT)",
      s"SELECT window_end, k, n FROM (SELECT *, year(current_timestamp()) AS y FROM ($counts)) WHERE y < 2000",
      s"$counts HAVING count(*) IN (CAST(NULL AS BIGINT))",
      s"$counts HAVING (1 = 0 AND k = 'a') OR (false AND k = 'b')",
      s"SELECT window_end, k, n FROM ($counts) WHERE n = year(current_timestamp()) AND n = 2000"
    ).foreach { sql =>
      val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "0 seconds"))
      fed.startAs("append", changes(sql))
      try {
        Seq(1, 30, 60).foreach(second => fed.feed(Seq(row(second, "a", 1), row(second, "a", 2))))
        assert(fed.emitted.isEmpty && fed.running.lastProgress.stateOperators.nonEmpty, sql)
        assert(fed.running.lastProgress.stateOperators.forall(_.numRowsTotal > 0L), sql)
      } finally fed.stop()
    }
  }

  test(
    "an aggregate by windows that overlap, within windows of a function, closes with the outer ones") {
    closesOnce(
      s"""SELECT window_start, window_end, max(n) AS m FROM (
         |SELECT window_start, window_end, count(*) AS n
         |FROM $tumble GROUP BY window_start, window_end, window(ts, '10 seconds', '5 seconds'))
         |GROUP BY window_start, window_end""".stripMargin,
      random(7)
    )
  }

  test("sessions within windows merge") {
    Seq("sum(v)", "count(DISTINCT v)").foreach { call =>
      closesOnce(
        s"SELECT window_end, k, session_window(ts, '3 seconds') AS s, count(*) AS n, $call AS c FROM $tumble " +
          "GROUP BY window_start, window_end, k, session_window(ts, '3 seconds')",
        random(8)
      )
    }
    val twice = "SELECT w, session_window(ts, '5 seconds') AS s, count(*) AS n FROM " +
      "(SELECT *, window(ts, '80 seconds', '10 seconds') AS w FROM {t}) GROUP BY w, session_window(ts, '5 seconds')"
    val fed = new ChangelogStream(spark, schema, twice, watermark = Some("ts" -> "1 hour"))
    fed.start()
    try random(9).init.foreach { rows =>
        fed.feed(rows)
        assert(fed.difference.isEmpty)
      }
    finally fed.stop()
  }

  test("sessions beside a window that closes are emitted when it closes") {
    val sql = "SELECT w, session_window(ts, '5 seconds') AS s, count(DISTINCT v) AS n FROM " +
      "(SELECT *, window(ts, '1 minute') AS w FROM {t}) GROUP BY w, session_window(ts, '5 seconds')"
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "0 seconds"))
    fed.startAs("append", changes(sql))
    try {
      Seq(Seq(1, 3, 30), Seq(70, 72), Seq(200)).foreach(seconds =>
        fed.feed(seconds.map(row(_, "a", 1))))
      val ends = fed.emitted.map(_.getStruct(0).getTimestamp(1))
      assert(ends.map(_.getTime - start) == Seq(60000L, 60000L, 120000L))
    } finally fed.stop()
  }

  test("windows of a view in SQL") {
    val sql =
      "SELECT window_end, count(*) AS n FROM windows_of_view GROUP BY window_start, window_end"
    Seq("append", "update").foreach { mode =>
      val own = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "0 seconds"))
      spark.sql(
        own.reading(s"CREATE OR REPLACE TEMPORARY VIEW windows_of_view AS SELECT * FROM $tumble"))
      own.startAs(mode, changes(sql))
      try {
        Seq(1, 2, 25).foreach(second => own.feed(Seq(row(second, "a", 1))))
        assert(own.emitted.toSeq == Seq(Row(new Timestamp(start + 20000L), 2L, "+I")), mode)
      } finally own.stop()
    }
  }
}

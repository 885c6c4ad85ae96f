package io.firesteel.panes

import io.firesteel.core.decide.Explain
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.expressions.Aggregator
import org.apache.spark.sql.functions.{col, count, sum, udaf, window}
import org.apache.spark.sql.Encoders
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.Assertion

/** For which queries the rule fires, with Spark's answers, and for which it declines and why. */
class PlanPanesSuite extends PanesSuite {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    PlanPanesSuite.createEvents(spark)
    val _ = spark.udf.register("longest", udaf(PlanPanesSuite.Longest, Encoders.STRING))
  }

  private val hop = "window(ts, '3 hours', '1 hour')"

  /** Values of foldFrom: Spark sees one expression for all windows of a row, or one for each. */
  private val folds = Seq(2L, Long.MaxValue)

  private def assertFires(sql: String): Assertion =
    folds.map(from => withConf(PanesConf.FOLD_FROM.key -> from)(assertFiresSo(sql))).last

  private def assertDeclines(code: String, sql: String): Assertion =
    folds.map(from => withConf(PanesConf.FOLD_FROM.key -> from)(assertDeclinesSo(code, sql))).last

  private def assertFiresSo(sql: String): Assertion = {
    val data = spark.sql(sql)
    val ours = data.collect().toSeq
    val explained = Explain.of(executed(data))
    assert(explained.fired.map(_.rule) == Seq("PlanPanes"), explained)
    assert(
      !explained.plan.contains("Expand") && !explained.plan.contains("Generate"),
      explained.plan)
    assertSameRows(ours, stock(spark.sql(sql).collect().toSeq), sql)
  }

  private def assertDeclinesSo(code: String, sql: String): Assertion = {
    val explained = explain(sql)
    assert(explained.fired.isEmpty && explained.declined.map(_.why.code) == Seq(code), explained)
    assertSameAnswer(sql)
  }

  Seq(
    "keys and several functions" ->
      s"SELECT k, window, count(*), sum(v), avg(d), min(s), max(ts) FROM events GROUP BY k, $hop",
    "no key" -> s"SELECT window, count(v), sum(w) FROM events GROUP BY $hop",
    "a slide that does not divide the size" ->
      "SELECT k, window, count(*) FROM events GROUP BY k, window(ts, '1 day', '7 hours')",
    "a slide nearly as long as half the size, and no multiple of a second" ->
      "SELECT window, sum(v) FROM events GROUP BY window(ts, '100000001 microseconds', '49999999 microseconds')",
    "a start" ->
      "SELECT k, window, sum(v) FROM events GROUP BY k, window(ts, '2 hours', '40 minutes', '15 minutes')",
    "a negative start, and no divisor" ->
      "SELECT k, window, sum(v) FROM events GROUP BY k, window(ts, '2 hours', '50 minutes', '-15 minutes')",
    "360 windows for each row" -> // Spark needs long to plan 1,440
      "SELECT window, sum(v), count(*) FROM events WHERE id < 30 GROUP BY window(ts, '6 hours', '1 minute')",
    "TIMESTAMP_NTZ" ->
      "SELECT k, window, sum(v) FROM events GROUP BY k, window(ntz, '3 hours', '1 hour')",
    "a computed time" ->
      "SELECT window, sum(v) FROM events GROUP BY window(ts + INTERVAL 10 MINUTES, '5 hours', '2 hours')",
    "a text as time" ->
      "SELECT window, sum(v) FROM events GROUP BY window(CAST(ts AS STRING), '5 hours', '2 hours')",
    "FILTER" ->
      s"SELECT window, sum(v) FILTER (WHERE k = 1), count(d) FILTER (WHERE v > 9) FROM events GROUP BY $hop",
    "HAVING" -> s"SELECT k, window, sum(v) AS s FROM events GROUP BY k, $hop HAVING s > 100",
    "window_time" ->
      s"SELECT window_time(window), sum(v) FROM (SELECT k, window, sum(v) AS v FROM events GROUP BY k, $hop) GROUP BY window_time(window)",
    "window_time in GROUP BY" ->
      s"SELECT window_time(window), sum(v) FROM events GROUP BY $hop, window, window_time(window)",
    "the window's start alone" ->
      s"SELECT w.start, sum(v) FROM (SELECT $hop AS w, v + 1 AS v FROM events WHERE v > 3) GROUP BY w.start",
    "the window's end alone" ->
      s"SELECT w.end, k, sum(v) FROM (SELECT $hop AS w, k, v FROM events) GROUP BY k, w.end",
    "the start, and an expression of the window" ->
      s"SELECT hour(w.start), w.start, sum(v) FROM (SELECT $hop AS w, v FROM events) GROUP BY w.start, hour(w.start)",
    "expressions of keys and results" ->
      s"SELECT k + 1 AS next, window.end, sum(v) * 2 + count(*) AS x FROM events GROUP BY k + 1, $hop",
    "a filter on the start" ->
      s"SELECT * FROM (SELECT k, window, sum(v) AS v FROM events GROUP BY k, $hop) WHERE window.start >= TIMESTAMP'2026-03-01 04:00:00' AND window.start < TIMESTAMP'2026-03-01 16:00:00'",
    "a filter on the end" ->
      s"SELECT * FROM (SELECT k, window, sum(v) AS v FROM events GROUP BY k, $hop) WHERE TIMESTAMP'2026-03-01 04:00:00' = window.end",
    "a list of windows" ->
      s"SELECT * FROM (SELECT k, window.start AS s, sum(v) AS v FROM events GROUP BY k, $hop) WHERE s IN (TIMESTAMP'2026-03-01 04:00:00', TIMESTAMP'2026-03-01 07:00:00', NULL)",
    "one of two windows, or a range" ->
      s"SELECT * FROM (SELECT k, window, sum(v) AS v FROM events GROUP BY k, $hop) WHERE window.end = TIMESTAMP'2026-03-01 04:00:00' OR window.start > TIMESTAMP'2026-03-01 06:30:00' AND window.start < TIMESTAMP'2026-03-01 08:30:00'",
    "a filter on an expression of the window" ->
      s"SELECT * FROM (SELECT k, window, sum(v) AS v FROM events GROUP BY k, $hop) WHERE hour(window.start) % 2 = 0",
    "a filter on a key and on rows" ->
      s"SELECT * FROM (SELECT k, window, sum(v) AS v FROM events WHERE v % 3 > 0 GROUP BY k, $hop) WHERE k = 2",
    "SELECT DISTINCT of a window" -> s"SELECT DISTINCT $hop FROM events",
    "groups without functions" -> s"SELECT k, window FROM events GROUP BY k, $hop",
    "a join on the window" ->
      s"""SELECT a.k, a.n, b.s FROM (SELECT k, window, count(*) AS n FROM events GROUP BY k, $hop) a
         |JOIN (SELECT window, sum(v) AS s FROM events GROUP BY window(ts, '3 hours', '3 hours')) b
         |ON a.window = b.window""".stripMargin,
    "a window of windows" ->
      "SELECT window(window, '6 hours', '3 hours') AS w, sum(c) FROM (SELECT window, count(*) c FROM events GROUP BY window(ts, '1 hour')) GROUP BY window(window, '6 hours', '3 hours')",
    "a ranking above" ->
      s"SELECT *, rank() OVER (PARTITION BY k ORDER BY n DESC) FROM (SELECT k, window, count(*) AS n FROM events GROUP BY k, $hop)",
    "collated keys" -> s"SELECT lower(ci), window, count(*) FROM events GROUP BY ci, $hop",
    "both zeros and NaN as keys" -> s"SELECT z, window, count(*) FROM events GROUP BY z, $hop",
    "struct and array keys" ->
      s"SELECT st, window, count(*) FROM (SELECT struct(k, z) AS st, array(z) AS arr, ts FROM events) GROUP BY st, arr, $hop",
    "decimal sums and averages" ->
      s"SELECT window, sum(w), avg(w), max(w) FROM events GROUP BY $hop",
    "sets and statistics" ->
      s"SELECT window, sort_array(collect_set(k)), approx_count_distinct(v), percentile(v, 0.5), max_by(s, v), bool_or(k = 3), bit_xor(v) FROM events GROUP BY $hop",
    "lists, whose order is free" ->
      s"SELECT k, window, sort_array(collect_list(v)) FROM events GROUP BY k, $hop",
    "lists and sums together, over a day" ->
      "SELECT k, window, sort_array(collect_list(v)), sum(v) FROM events GROUP BY k, window(ts, '1 day', '1 hour')",
    "a user-defined aggregate" ->
      "SELECT k, window, longest(s) FROM events GROUP BY k, window(ts, '1 day', '1 hour')",
    "a subquery in a function" ->
      s"SELECT window, sum(v + (SELECT max(k) FROM events)) FROM events GROUP BY $hop",
    "times before 1970" ->
      "SELECT window, count(*) FROM (SELECT ts - INTERVAL 100 YEARS AS ts FROM events) GROUP BY window(ts, '5 hours', '2 hours')",
    "no rows" -> s"SELECT window, count(*) FROM events WHERE id < 0 GROUP BY $hop"
  ).zipWithIndex.foreach { case ((what, sql), at) =>
    val adaptive = at % 2 == 0
    test(s"fires: $what, ${if (adaptive) "with" else "without"} adaptive execution") {
      withConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> adaptive)(assertFires(sql))
    }
  }

  Seq(
    "PANES.OVERLAP_TOO_SMALL" ->
      "SELECT window, count(*) FROM events GROUP BY window(ts, '100 seconds', '99 seconds')",
    "PANES.DISTINCT" -> s"SELECT window, count(DISTINCT k) FROM events GROUP BY $hop",
    "PANES.OTHER_NODE" ->
      s"SELECT window, count(DISTINCT k), count(DISTINCT v) FROM events GROUP BY $hop",
    "PANES.OTHER_NODE" -> s"SELECT k, window, count(*) FROM events GROUP BY ROLLUP(k, $hop)",
    "PANES.OTHER_NODE" ->
      s"""SELECT window, n FROM (SELECT window, count(*) AS n FROM events GROUP BY $hop)
         |WHERE window IN (SELECT window(ts, '3 hours', '3 hours') FROM events)""".stripMargin,
    "PANES.READS_WINDOW" -> s"SELECT window, max(window.end) FROM events GROUP BY $hop",
    "PANES.READS_WINDOW" ->
      s"SELECT w, count(*) FILTER (WHERE w.start > ts - INTERVAL 1 HOUR) FROM (SELECT ts, $hop AS w FROM events) GROUP BY w",
    "PANES.FILTER_BETWEEN" ->
      s"SELECT w, count(*) FROM (SELECT ts, $hop AS w FROM events) WHERE ts > w.start + INTERVAL 1 HOUR GROUP BY w",
    "PANES.MAY_FAIL_ELSEWHERE" ->
      s"SELECT * FROM (SELECT window, sum(10 / (v * v + 1)) FROM events GROUP BY $hop) WHERE hour(window.start) % 2 = 0",
    // An update may fail: 32768 is no position.
    "PANES.MAY_FAIL_ELSEWHERE" ->
      s"SELECT s, bitmap_count(b) FROM (SELECT window.start AS s, bitmap_construct_agg(if(hour(ts) % 12 = 0, 1, 2)) AS b FROM events GROUP BY $hop) WHERE hour(s) % 2 = 0",
    "PANES.PART_OF_WINDOW" ->
      s"SELECT h, count(*) FROM (SELECT hour(w.start) AS h FROM (SELECT $hop AS w FROM events)) GROUP BY h",
    "PANES.PART_OF_WINDOW" ->
      s"SELECT h, count(*) FROM (SELECT hour(w.start) + k AS h, w FROM (SELECT k, $hop AS w FROM events)) GROUP BY w, h"
  ).zipWithIndex.foreach { case ((code, sql), at) =>
    test(s"declines $code, case $at")(assertDeclines(code, sql))
  }

  test("a list of windows is a range of times for the rows") {
    val sql =
      s"SELECT * FROM (SELECT window.start AS s, sum(v) AS v FROM events GROUP BY $hop) WHERE s IN " +
        "(TIMESTAMP'2026-03-01 04:00:00', TIMESTAMP'2026-03-01 07:00:00')"
    assert(executed(spark.sql(sql)).toString.contains("2026-03-01 10:00:00"))
  }

  test("declines a random number, which each copy of a row draws separately") {
    val codes = declines(
      s"SELECT w, count(*) FROM (SELECT $hop AS w, rand() AS r FROM events) WHERE r > 0.5 GROUP BY w")
    assert(codes == Set("PANES.NON_DETERMINISTIC"))
  }

  test("does not recognise tumbling windows") {
    val explained = explain("SELECT window, count(*) FROM events GROUP BY window(ts, '1 hour')")
    assert(explained.fired.isEmpty && explained.declined.isEmpty)
  }

  test("switched off, the plan is Spark's own, and explain has the reason") {
    withConf(PanesConf.ENABLED.key -> false) {
      assertDeclines("PANES.SWITCHED_OFF", s"SELECT window, count(*) FROM events GROUP BY $hop")
    }
  }

  test("fires in the DataFrame API") {
    val counted = spark
      .table("events")
      .groupBy(col("k"), window(col("ts"), "3 hours", "1 hour", "10 minutes"))
      .agg(count("*"), sum("v"))
    assert(counted.queryExecution.executedPlan.exists(_.isInstanceOf[PaneWindowsExec]) ||
      counted.queryExecution.executedPlan.toString.contains("PaneWindows"))
    assertSameRows(counted.collect().toSeq, stock(counted.collect().toSeq), "DataFrame")
  }

  test("minOverlap is the smallest number of windows per row for which it fires") {
    val sql = s"SELECT window, count(*) FROM events GROUP BY $hop"
    withConf(PanesConf.MIN_OVERLAP.key -> 3)(assertFires(sql))
    withConf(PanesConf.MIN_OVERLAP.key -> 3.5)(assertDeclines("PANES.OVERLAP_TOO_SMALL", sql))
  }
}

private object PlanPanesSuite {

  /** Events of a few days, with nulls and gaps, some at the bounds of windows. */
  def createEvents(spark: SparkSession): Unit =
    spark
      .range(0, 2000, 1, 3)
      .selectExpr(
        "IF(id % 29 = 0, NULL, CAST(id % 5 AS INT)) AS k",
        "IF(id % 17 = 0, NULL, (id * 7919) % 503) AS v",
        "IF(id % 11 = 0, NULL, CAST(id % 13 AS DOUBLE) / 4) AS d",
        "CAST((id * 7919) % 5003 AS DECIMAL(38, 18)) / 7 AS w",
        "IF(id % 7 = 0, NULL, repeat('x', CAST(id % 9 AS INT))) AS s",
        "CAST(IF(id % 2 = 0, 'a', 'A') AS STRING COLLATE UTF8_LCASE) AS ci",
        "CASE id % 4 WHEN 0 THEN 0.0D WHEN 1 THEN -0.0D WHEN 2 THEN double('NaN') END AS z",
        """IF(id % 23 = 0, NULL, TIMESTAMP'2026-03-01 00:00:00'
          | + make_dt_interval(CAST(id % 3 * 9 AS INT), 0, CAST((id * 131) % 1440 AS INT),
          |   IF(id % 5 = 0, 0, 0.000001 * (id % 1000))))""".stripMargin + " AS ts",
        "id"
      )
      .selectExpr("*", "CAST(ts AS TIMESTAMP_NTZ) AS ntz")
      .createOrReplaceTempView("events")

  /** A user-defined aggregate with a buffer of its own. */
  object Longest extends Aggregator[String, String, String] {
    override def zero: String = ""
    override def reduce(longest: String, next: String): String =
      if (next != null && next.length > longest.length) next else longest
    override def merge(a: String, b: String): String = reduce(a, b)
    override def finish(longest: String): String = longest
    override def bufferEncoder: org.apache.spark.sql.Encoder[String] = Encoders.STRING
    override def outputEncoder: org.apache.spark.sql.Encoder[String] = Encoders.STRING
  }
}

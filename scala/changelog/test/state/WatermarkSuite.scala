package io.firesteel.changelog.state

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}
import io.firesteel.changelog.plan.InferChangelog
import io.firesteel.changelog.plan.lower.{LowerOperators, StatefulNode}
import io.firesteel.changelog.plan.parse.ParseQuery
import io.firesteel.changelog.rules.ExplainStream

import java.sql.Timestamp

import org.apache.spark.sql.Row
import org.apache.spark.sql.firesteel.executionOf
import org.apache.spark.sql.types.StructType

/** Groups that the watermark closes: their state goes, what was told of them stays. */
class WatermarkSuite extends ChangelogSuite {

  private val schema = "ts TIMESTAMP, k STRING, v INT"

  private def at(minute: Int): Timestamp =
    Timestamp.valueOf(f"2026-01-01 ${12 + minute / 60}%02d:${minute % 60}%02d:00")

  private def row(minute: Int, k: String, v: Int = 1): Row = Row(at(minute), k, v)

  /** Runs a query whose watermark is ten minutes behind, and stops it. */
  private def withWatermark(sql: String)(body: ChangelogStream => Any): Unit = {
    val fed = new ChangelogStream(
      spark,
      StructType.fromDDL(schema),
      sql,
      watermark = Some("ts" -> "10 minutes"))
    try {
      fed.start()
      val _ = body(fed)
    } finally fed.stop()
  }

  private def same(fed: ChangelogStream): Unit = fed.difference.foreach(d => fail(d))

  /** Rows in the states of all operators, and rows that came too late, of the last micro-batch. */
  private def state(fed: ChangelogStream): (Long, Long) = {
    val operators = fed.running.recentProgress.filter(_.stateOperators.nonEmpty).last.stateOperators
    (operators.map(_.numRowsTotal).sum, operators.map(_.numRowsDroppedByWatermark).sum)
  }

  private val hours = "window(ts, '1 hour') AS w"

  private val closing = Seq(
    "a count of counts by window" ->
      s"""SELECT w, n, count(*) AS ks FROM
         |(SELECT $hours, k, count(*) AS n, count(DISTINCT v) AS d FROM {t} GROUP BY window(ts, '1 hour'), k)
         |GROUP BY w, n""".stripMargin,
    "the best of each window" ->
      s"""SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY w ORDER BY n DESC, k) AS place FROM
         |(SELECT $hours, k, count(*) AS n FROM {t} GROUP BY window(ts, '1 hour'), k)) WHERE place <= 2""".stripMargin,
    "the first rows of each time" ->
      """SELECT ts, k, v FROM (SELECT *, row_number() OVER (PARTITION BY ts ORDER BY v, k) AS place FROM {t})
        |WHERE place <= 2""".stripMargin,
    "a union, times under another name" ->
      """SELECT t2, n, count(*) AS c FROM (SELECT t2, k, count(*) AS n FROM
        |(SELECT ts AS t2, k FROM {t} UNION ALL SELECT ts, concat(k, '!') FROM {t}) GROUP BY t2, k)
        |GROUP BY t2, n""".stripMargin,
    "a join with a table, and a count above it" ->
      s"""SELECT w, label, count(*) AS c FROM
         |(SELECT $hours, k, count(*) AS n FROM {t} GROUP BY window(ts, '1 hour'), k)
         |JOIN (SELECT concat('k', id) AS k, id % 2 AS label FROM range(9) UNION SELECT 'y', 2) USING (k)
         |GROUP BY w, label""".stripMargin,
    "windows of what an operator gives" ->
      """SELECT window(t, '1 hour') AS w, count(*) AS n FROM
        |(SELECT ts AS t, k, count(*) AS c FROM {t} GROUP BY ts, k) GROUP BY window(t, '1 hour')""".stripMargin,
    "sliding windows of what an operator gives" ->
      """SELECT window(ts, '1 hour', '30 minutes') AS w, count(*) AS n FROM
        |(SELECT ts, k, count(*) AS c FROM {t} GROUP BY ts, k)
        |GROUP BY window(ts, '1 hour', '30 minutes')""".stripMargin,
    "the start and the end of a sliding window, then its end" ->
      """SELECT e, n, count(*) AS c FROM (SELECT window.start AS s, window.end AS e, n, count(*) AS m FROM
         |(SELECT window(ts, '1 hour', '30 minutes'), k, count(*) AS n FROM {t}
         |GROUP BY window(ts, '1 hour', '30 minutes'), k)
         |GROUP BY window.start, window.end, n) GROUP BY e, n""".stripMargin,
    "windows of windows" ->
      s"""SELECT window(w, '3 hours') AS l, count(*) AS c FROM
         |(SELECT $hours, k, count(*) AS n FROM {t} GROUP BY window(ts, '1 hour'), k)
         |GROUP BY window(w, '3 hours')""".stripMargin
  )

  test("complete mode closes nothing and takes late rows, as Spark's does") {
    val sql =
      s"SELECT $hours, count(DISTINCT v) AS d, count(*) AS n FROM {t} GROUP BY window(ts, '1 hour')"
    val fed =
      new ChangelogStream(
        spark,
        StructType.fromDDL(schema),
        sql,
        watermark = Some("ts" -> "1 minute"))
    try {
      fed.startAs("complete", sql)
      Seq(row(5, "a", 1), row(600, "a", 2), row(700, "a", 3), row(6, "b", 4)).foreach { late =>
        fed.feed(Seq(late))
        assertSameRows(fed.last, fed.answer(), sql)
      }
    } finally fed.stop()
  }

  for {
    (name, sql) <- closing
    provider <- providers
  } test(s"$name: what is over leaves the state, ${provider.split('.').last}") {
    withProvider(provider) {
      withWatermark(sql) { fed =>
        fed.feed((0 until 50).map(i => row(i, s"k${i % 7}", i % 3)))
        same(fed)
        val (before, _) = state(fed)
        fed.feed(Seq(row(200, "x"))) // the watermark is then 190
        same(fed)
        fed.restart()
        fed.feed(Seq(row(201, "y"), row(202, "y")))
        same(fed)
        val (after, _) = state(fed)
        assert(before > 5 && after < before && after <= 12, s"$before, then $after")
        // A row of a closed group changes nothing and is counted; nothing is told of the group again.
        val told = fed.emitted.size
        fed.running.processAllAvailable()
        fed.feed(Seq(row(7, "k0")))
        assert(fed.emitted.size == told, fed.last)
        assert(state(fed)._2 >= 1)
        assert(state(fed)._1 <= after)
      }
    }
  }

  /** The columns by which the operators of a query close groups, from above down, each with its delay. */
  private def closedBy(sql: String): Seq[(String, Long)] = {
    val rows = spark.readStream.format("rate").load()
    rows.selectExpr("timestamp AS ts", "CAST(value AS STRING) AS k", "value AS v")
      .withWatermark("ts", "1 minute").createOrReplaceTempView("timed")
    val analyzed = executionOf(spark.sql(sql.replace("{t}", "timed"))).analyzed
    val inferred = InferChangelog(new ParseQuery(false, None).read(analyzed), true)
    LowerOperators(inferred, BegunPlan(PlanVersion.current, PlanChoices.none)).plan.collect {
      case node: StatefulNode => node.contract.eventTimes.head -> node.contract.watermark
    }.map { case (column, watermark) => column.fold("none")(_.name) -> watermark.after }
  }

  test("a window's start closes groups when the window is over, and only where no row is late") {
    val (hour, day) = (3600L * 1000000, 24L * 3600 * 1000000)
    def above(columns: String, by: String) =
      s"SELECT $by, count(*) AS n FROM (SELECT $columns FROM (SELECT window(ts, '1 day', '1 hour') AS w, k, " +
        s"count(*) AS c FROM {t} GROUP BY window(ts, '1 day', '1 hour'), k)) GROUP BY $by"
    assert(closedBy(above("w.start AS s", "s")) == Seq("s" -> day, "window" -> 0L))
    assert(closedBy(above("w.end AS e", "e")) == Seq("e" -> 0L, "window" -> 0L))
    assert(closedBy(above("w.end AS e, w.start AS s", "s, e")) == Seq("s" -> day, "window" -> 0L))
    assert(closedBy(above("window_time(w) AS t", "t")) == Seq("t" -> 0L, "window" -> 0L))
    assert(closedBy(
      "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY s ORDER BY n DESC) AS place FROM " +
        "(SELECT window(ts, '1 hour').start AS s, n FROM (SELECT ts, count(*) AS n FROM {t} GROUP BY ts))) " +
        "WHERE place <= 2") == Seq("s" -> hour, "ts" -> 0L))
    assert(closedBy(above("hour(w.start) AS h", "h")) == Seq("none" -> 0L, "window" -> 0L))
    // Of windows of two sizes the start does not tell the end; of two alike it does.
    def union(other: String) = "SELECT s, count(*) AS n FROM (" + Seq("1 hour", other).map { size =>
      s"SELECT w.start AS s FROM (SELECT window(ts, '$size') AS w, count(*) FROM {t} GROUP BY window(ts, '$size'))"
    }.mkString(" UNION ALL ") + ") GROUP BY s"
    assert(
      closedBy(union("1 hour")).head == "s" -> hour && closedBy(union("1 day")).head == "s" -> day)
    val mixed = "SELECT w.start, count(*) AS n FROM (SELECT w, count(*) AS c FROM " +
      "(SELECT window(ts, '1 hour') AS w FROM {t} UNION ALL SELECT window(ts, '1 day') FROM {t}) GROUP BY w) " +
      "GROUP BY w.start"
    assert(closedBy(mixed).head._1 == "none")
    // Spark, too, takes late rows where the start of a window is all that it groups by.
    assert(closedBy(
      "SELECT s, count(DISTINCT v) AS n FROM (SELECT window(ts, '1 hour').start AS s, v FROM {t}) GROUP BY s")
      .head._1 == "none")
  }

  test("groups of a time by which rows above may yet go are not closed") {
    // A row that was the first of its key goes when a better one comes, however late.
    val sql =
      """SELECT w, count(*) AS n FROM (SELECT window(ts, '1 hour') AS w, v FROM
      (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC, ts) AS place FROM {t}) WHERE place = 1)
      GROUP BY w"""
    withWatermark(sql) { fed =>
      fed.feed((0 until 50).map(i => row(i, s"k$i")))
      fed.feed(Seq(row(200, "x")))
      fed.feed(Seq(row(201, "y")))
      fed.feed((10 until 40).map(i => row(202, s"k$i", 2)))
      same(fed)
      assert(state(fed)._2 == 0)
    }
  }

  test("null times are never over, and explain says by which column state goes") {
    val sql =
      "SELECT ts, c, count(*) AS n FROM (SELECT ts, k, count(*) AS c FROM {t} GROUP BY ts, k) GROUP BY ts, c"
    withWatermark(sql) { fed =>
      fed.feed(Seq(Row(null, "a", 1), row(1, "a")))
      fed.feed(Seq(row(100, "a")))
      fed.feed(Seq(Row(null, "a", 2), row(101, "b")))
      same(fed)
    }
    val source = spark.readStream.format("rate").load().selectExpr("timestamp AS ts", "value AS k")
    source.withWatermark("ts", "1 minute").createOrReplaceTempView("timed")
    val explained = ExplainStream(
      spark,
      spark.sql(
        s"SELECT *, row_kind() AS op FROM (${sql.replace("{t}", "timed")})").queryExecution.analyzed,
      org.apache.spark.sql.streaming.OutputMode.Append()
    )
    val states = explained.fired.flatMap(_.values.get("state"))
    assert(
      states.size == 2 && states.forall(_.contains("until the watermark has passed ts")),
      states)
  }
}

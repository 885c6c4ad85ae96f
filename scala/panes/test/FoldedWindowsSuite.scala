package io.firesteel.panes

import io.firesteel.core.CoreConf
import io.firesteel.core.decide.Explain
import io.firesteel.testkit.SinceSpark
import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, TimeWindow}
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical.{Expand, Generate, Join}
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.firesteel.executionOf
import org.apache.spark.sql.functions.{col, count, expr, sum, window}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.TimestampType
import org.scalatest.Assertion

/** Which windows Spark sees as one expression, and that the results do not change. */
class FoldedWindowsSuite extends PanesSuite {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    PlanPanesSuite.createEvents(spark)
  }

  private val hop = "window(ts, '1 day', '1 hour')"

  private def isFolded(data: DataFrame): Boolean =
    executionOf(data).analyzed.collectWithSubqueries {
      case generate: Generate if generate.generator.isInstanceOf[WindowsOf] => generate
    }.nonEmpty

  private def isWrittenOut(data: DataFrame): Boolean =
    executionOf(data).optimizedPlan.exists(_.isInstanceOf[Expand])

  private def assertFolded(sql: String): Assertion = {
    assert(isFolded(spark.sql(sql)) && !isWrittenOut(spark.sql(sql)), sql)
    assert(fired(sql).contains("PlanPanes"), sql)
    assertSameAnswer(sql)
  }

  private def assertNotFolded(sql: String): Assertion = {
    assert(!isFolded(spark.sql(sql)), sql)
    assertSameAnswer(sql)
  }

  test("an aggregate by many windows") {
    assertFolded(s"SELECT k, window, sum(v) FROM events GROUP BY k, $hop")
    assertFolded(s"SELECT $hop AS hop, k, count(*) FROM events GROUP BY 1, 2")
    assertFolded(s"SELECT $hop AS hop, k, count(*) FROM events GROUP BY hop, k")
    assertFolded(s"SELECT $hop AS hop, k, count(*) FROM events GROUP BY ALL")
    assertFolded(s"SELECT $hop.start AS from, count(*) FROM events GROUP BY $hop")
    assertFolded(s"SELECT $hop.end, $hop.start, count(*) FROM events GROUP BY $hop")
    assertFolded(
      s"WITH w AS (SELECT window, sum(v) AS v FROM events GROUP BY $hop) SELECT max(v) FROM w")
    assertFolded(s"SELECT * FROM events WHERE v > (SELECT avg(c) FROM (SELECT count(*) AS c FROM events GROUP BY $hop))")
    assertFolded(
      "SELECT window, sum(v) FROM events GROUP BY window(ts, '1 day', '50 minutes', '-7 minutes')")
  }

  test("twice in one query, joined with itself") {
    val by = s"SELECT k, window, sum(v) AS v FROM events GROUP BY k, $hop"
    assertFolded(s"SELECT * FROM ($by) UNION ALL SELECT * FROM ($by)")
    assertFolded(s"SELECT a.v, b.v FROM ($by) a JOIN ($by) b ON a.window = b.window AND a.k = b.k")
    assertFolded(s"SELECT window.start, sum(v) FROM ($by) GROUP BY window.start")
    assertFolded(s"SELECT window, sum(v) FROM (SELECT window_time(window) AS t, v FROM ($by)) GROUP BY window(t, '2 days', '1 hour')")
    def joined = {
      val one = spark.table("events").groupBy(window(col("ts"), "1 day", "1 hour"))
        .agg(sum("v").as("v"))
      one.as("a").join(one.as("b"), expr("a.window = b.window")).selectExpr("a.window", "a.v + b.v")
    }
    assert(isFolded(joined))
    assertSameRows(joined.collect().toSeq, stock(joined.collect().toSeq), "a join of one DataFrame")
  }

  test("views, caches and the DataFrame API") {
    spark.sql(s"SELECT k, window, sum(v) AS v FROM events GROUP BY k, $hop")
      .createOrReplaceTempView("by_window")
    assertFolded("SELECT * FROM by_window WHERE window.start > TIMESTAMP'2026-03-01 12:00:00'")
    spark.sql("CACHE TABLE by_window")
    try {
      val _ = assertSameAnswer("SELECT window, max(v) FROM by_window GROUP BY window")
    } finally {
      val _ = spark.sql("UNCACHE TABLE by_window")
    }
    val data =
      spark.table("events").groupBy(col("k"), window(col("ts"), "1 day", "1 hour", "5 minutes"))
        .agg(count("*"), sum("v")).where("k > 1")
    assert(isFolded(data) && Explain.of(executed(data)).fired.map(_.rule).contains("PlanPanes"))
    val sql =
      "SELECT k, window(ts, '1 day', '1 hour', '5 minutes'), count(*), sum(v) FROM events WHERE k > 1 GROUP BY ALL"
    assertSameRows(data.collect().toSeq, stock(spark.sql(sql).collect().toSeq), sql)
  }

  test("few windows, calls elsewhere, grouping sets and streams keep Spark's expressions") {
    assertNotFolded("SELECT window, sum(v) FROM events GROUP BY window(ts, '15 hours', '1 hour')")
    assertNotFolded(s"SELECT count(*) FROM (SELECT $hop AS w FROM events) GROUP BY w.start")
    assertNotFolded(s"SELECT k, sum(v) FROM events GROUP BY GROUPING SETS ((k, $hop), (k))")
    assertNotFolded(s"SELECT CAST(ts AS STRING), window, sum(v) FROM (SELECT CAST(ts AS STRING) AS ts, v FROM events) GROUP BY ts, $hop")
    val rate = spark.readStream.format("rate").load()
      .groupBy(window(col("timestamp"), "1 day", "1 hour")).count()
    assert(!isFolded(rate))
    withConf(
      PanesConf.ENABLED.key -> false)(assertNotFolded(s"SELECT sum(v) FROM events GROUP BY $hop"))
  }

  test("a correlated subquery has Spark's error") {
    val sql =
      s"SELECT k FROM events o WHERE v > (SELECT max(c) FROM (SELECT count(*) AS c FROM events i WHERE i.k = o.k GROUP BY $hop))"
    def condition: String = intercept[AnalysisException](spark.sql(sql)).getCondition
    assert(condition.nonEmpty && condition == stock(condition))
  }

  test("a query is left alone while the user has a function by that name") {
    // In a session of its own: Spark 4.0 then has no function of its own by that name any more.
    val session = spark.newSession()
    PlanPanesSuite.createEvents(session)
    session.udf.register(
      "window",
      (_: java.sql.Timestamp, size: String, slide: String) => size + slide)
    val sql = s"SELECT $hop AS w, sum(v) FROM events GROUP BY 1"
    assert(!isFolded(session.sql(sql)))
    // Which of the two functions wins depends on the version of Spark.
    val ours = session.sql(sql).collect().toSeq
    session.conf.set(CoreConf.ENABLED.key, "false")
    assertSameRows(ours, session.sql(sql).collect().toSeq, sql)
  }

  test("a query that panes decline gets Spark's own copies and answer") {
    Seq(
      s"SELECT window, count(DISTINCT v) FROM events GROUP BY $hop",
      s"SELECT window, count(DISTINCT v), sum(DISTINCT k) FROM events GROUP BY $hop",
      s"SELECT window, max(window.start), sum(v) FROM events GROUP BY $hop",
      "SELECT window, count(DISTINCT v) FROM events GROUP BY window(ts, '1 day', '50 minutes', '-7 minutes')"
    ).foreach { sql =>
      assert(isWrittenOut(spark.sql(sql)) && fired(sql).isEmpty && declines(sql).nonEmpty, sql)
      val _ = assertSameAnswer(sql)
    }
  }

  test("rows of a relation in the query itself, for which panes decline") {
    val pairs = "VALUES (1, 'a'), (2, 'b') AS d(k, n)"
    val times =
      "VALUES (TIMESTAMP'2026-03-01 01:00:00', 1), (TIMESTAMP'2026-03-01 02:00:00', 1) AS t(ts, v)"
    Seq(
      s"SELECT window, count(DISTINCT e.v) FROM events e JOIN $pairs ON e.k = d.k GROUP BY $hop",
      s"SELECT window, count(DISTINCT v) FROM (SELECT * FROM $times UNION ALL SELECT * FROM $times) GROUP BY $hop"
    ).foreach { sql =>
      assert(isWrittenOut(spark.sql(sql)), sql)
      val _ = assertSameAnswer(sql)
    }
  }

  test("an expression that Spark later moves out of the aggregate gets Spark's own copies") {
    val starts = "SELECT timestamp_seconds(id * 3600 + 1772323200) FROM range(9)"
    Seq(
      s"SELECT window, sum(v) FROM events GROUP BY $hop HAVING window.start IN ($starts)",
      s"SELECT window, sum(CASE WHEN k IN (SELECT id FROM range(3)) THEN v END) FROM events GROUP BY $hop"
    ).foreach { sql =>
      assert(!executionOf(spark.sql(sql)).optimizedPlan.exists(_.isInstanceOf[Generate]), sql)
      val _ = assertSameAnswer(sql)
    }
  }

  test("several windows in one aggregate are Spark's error") {
    Seq(
      s"$hop, window(ts, '10 minutes')",
      s"$hop, window(ts, '2 days', '1 hour')",
      s"$hop, session_window(ts, '5 minutes')",
      s"$hop, builtin.window(ts, '10 minutes')",
      s"$hop, system.builtin.session_window(ts, '5 minutes')"
    ).foreach { windows =>
      val sql = s"SELECT count(*) FROM events GROUP BY $windows"
      def message: String = intercept[AnalysisException](spark.sql(sql)).getMessage
      assert(message == stock(message))
    }
    SinceSpark("4.2") { // names of Spark's functions with their catalog
      assertNotFolded(s"SELECT builtin.$hop AS hop, count(*) FROM events GROUP BY $hop")
    }
    assertNotFolded(
      "SELECT count(*) FROM events GROUP BY window(window(ts, '5 minutes').end, '1 day', '1 hour')")
  }

  test("the filter for rows without a time is pushed to the source") {
    val sql =
      "SELECT window, sum(e.v) FROM range(5) o LEFT JOIN events e ON o.id = e.k GROUP BY window(e.ts, '1 day', '1 hour')"
    val joins = executionOf(spark.sql(sql)).optimizedPlan.collect { case join: Join =>
      join.joinType
    }
    assert(joins == Seq(Inner))
    assertFolded(sql)
  }

  test("switched off when it is planned, it has Spark's copies") {
    val sql = s"SELECT window, sum(v) FROM events GROUP BY $hop"
    val data = spark.sql(sql)
    assert(isFolded(data))
    stock {
      assert(isWrittenOut(data))
      assertSameRows(data.collect().toSeq, spark.sql(sql).collect().toSeq, sql)
    }
  }

  test("a join above prunes partitions below") {
    spark.sql("CREATE TABLE parts USING parquet PARTITIONED BY (p) AS " +
      "SELECT ts, v, pmod(hash(v), 10) AS p FROM events")
    spark.sql("CREATE TABLE days USING parquet AS SELECT id AS p, id % 5 AS kind FROM range(10)")
    try {
      val sql = "SELECT w.s, w.n FROM (SELECT p, window.start AS s, count(*) AS n FROM parts " +
        s"GROUP BY p, $hop) w JOIN days d ON w.p = d.p WHERE d.kind = 1"
      withConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> false) {
        val scans = executed(spark.sql(sql)).collect { case scan: FileSourceScanExec => scan }
        assert(scans.exists(_.partitionFilters.exists(_.sql.contains("dynamicpruning"))), scans)
        assert(fired(sql).contains("PlanPanes"))
      }
      assertSameAnswer(sql)
    } finally Seq("parts", "days").foreach(name => spark.sql(s"DROP TABLE $name"))
  }

  test("86,400 windows of a row") {
    val data = spark.sql(
      "SELECT window, count(*) AS c FROM VALUES (TIMESTAMP'2026-03-01 00:00:00'), (TIMESTAMP'2026-03-01 06:00:00') AS t(ts) " +
        "GROUP BY window(ts, '1 day', '1 second')")
    assert(Explain.of(executed(data)).fired.map(_.rule) == Seq("PlanPanes"))
    val all = data.groupBy("c").count().collect().map(row => row.getLong(0) -> row.getLong(1)).toMap
    // Six hours apart, both are in the windows of 18 hours, and each alone in those of six more.
    assert(all == Map(2L -> 64800L, 1L -> 43200L))
  }

  test("more windows a row than an INT can count are planned") {
    val data = spark.sql(
      "SELECT window, sum(v) FROM events GROUP BY window(ts, '1 day', '1 microsecond')")
    assert(Explain.of(executed(data)).fired.map(_.rule) == Seq("PlanPanes"))
  }

  test("Spark knows the number of rows") {
    val plan =
      executionOf(spark.sql(s"SELECT window, sum(v) FROM events GROUP BY $hop")).optimizedPlan
    val Seq(copies) = plan.collect { case copies: WindowCopies => copies }: @unchecked
    assert(copies.stats.sizeInBytes == copies.child.stats.sizeInBytes * 24)
  }

  test("the generator makes the windows that Spark makes, row by row, and its errors") {
    val times = Seq(0L, 1L, -1L, 3599999999L, -86400000001L, 1772323200123456L)
    val ends =
      Seq(Long.MaxValue, Long.MinValue, Long.MaxValue - 5000000000L, Long.MinValue + 5000000000L)
    for {
      (size, slide, start) <- Seq((10800L, 3600L, 0L), (9000L, 3600L, 0L), (10800L, 3600L, -420L))
      isAnsi <- Seq(true, false)
      micros <- times ++ ends
    } withConf(SQLConf.ANSI_ENABLED.key -> isAnsi, PanesConf.FOLD_FROM.key -> Long.MaxValue) {
      val text = Seq(size, slide, start).map(s => s"'$s seconds'").mkString(", ")
      val theirs = scala.util.Try(
        spark.sql(
          s"SELECT unix_micros(w.start), unix_micros(w.end) FROM (SELECT window(timestamp_micros(${literal(micros)}), $text) AS w)")
          .collect().map(row => row.getLong(0) -> row.getLong(1)).toSeq)
      val scale = 1000000L
      val windows = WindowsOf(
        BoundReference(0, TimestampType, nullable = true),
        size * scale,
        slide * scale,
        start * scale,
        isAnsi)
      val ours = scala.util.Try(windows.eval(InternalRow(micros)).iterator.map { row =>
        val window = row.getStruct(0, 2)
        window.getLong(0) -> window.getLong(1)
      }.toSeq)
      assert(ours.isSuccess == theirs.isSuccess, s"$text $micros $isAnsi $ours $theirs")
      if (ours.isSuccess) assert(ours.get.sorted == theirs.get.sorted, s"$text $micros $isAnsi")
      assert(windows.eval(InternalRow(null)).iterator.isEmpty)
    }
  }

  private def literal(micros: Long): String =
    if (micros == Long.MinValue) "-9223372036854775807L - 1L" else s"${micros}L"

  test("the expression has a readable text") {
    val windows = WindowsOf(
      BoundReference(0, TimestampType, nullable = true),
      7200000000L,
      3600000000L,
      0L,
      isAnsi = true)
    assert(windows.toString.contains("2 hours by 1 hour"))
    assert(windows.elementSchema("window").dataType == TimeWindow(windows.time, 1, 1, 0).dataType)
  }
}

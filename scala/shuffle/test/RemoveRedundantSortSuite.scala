package io.firesteel.shuffle

import org.apache.spark.sql.execution.{SortExec, SparkPlan}
import org.apache.spark.sql.functions.expr

/** Sorts that are removed, and similar ones that are not. */
class RemoveRedundantSortSuite extends ShuffleSuite {

  override protected def settings: Map[String, String] = Map(
    "spark.sql.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.adaptive.enabled" -> "false",
    ungated._1 -> ungated._2.toString)

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark
      .sql("""SELECT IF(id % 11 = 0, NULL, id * 7 % 31) AS k, IF(id % 13 = 0, NULL, id % 7) AS o, id AS v,
        CAST(id % 5 AS DOUBLE) AS d, elt(CAST(id % 3 AS INT) + 1, 'a', 'A', 'b') COLLATE UTF8_LCASE AS c
        FROM range(0, 900, 1, 3)""")
      .createOrReplaceTempView("t")
  }

  private def ranked(call: String, by: String = "k", order: String = "o") =
    s"SELECT $by, $order, v, $call OVER (PARTITION BY $by ORDER BY $order) AS r FROM t"

  private def joined(rows: String, on: String): String =
    s"SELECT l.k, l.r, r.r FROM ($rows) AS l JOIN ($rows) AS r ON l.k = r.k AND $on"

  private def planOf(sql: String): SparkPlan = executed(spark.sql(sql))

  private def sorts(sql: String): Int =
    collectIn(planOf(sql)) { case sort: SortExec => sort }.size

  private def removed(sql: String): Int =
    collectIn(planOf(sql)) { case known: InOrderExec => known }.size

  /** The answer is Spark's, with `fewer` sorts fewer, and rows have the declared order. */
  private def assertRemoved(sql: String, fewer: Int): Unit = {
    assertSameAnswer(sql)
    assert(removed(sql) == fewer, s"$sql\n${explain(sql).plan}")
    assertInOrder(planOf(sql), sql)
  }

  test("a column that has two names") {
    val sql =
      """SELECT x.k, x.s, y.s FROM
      (SELECT k AS l, o, sum(sum(v)) OVER (PARTITION BY k ORDER BY o) AS s, k FROM t GROUP BY k, o) AS x
      JOIN (SELECT k, o, sum(v) AS s FROM t GROUP BY k, o) AS y ON x.l = y.k AND x.o = y.o"""
    assertRemoved(sql, 1)
    assert(sorts(sql) == stock(sorts(sql)) - 1)
  }

  test("ranks of a window, also with a constant added") {
    assertRemoved(joined(ranked("rank()"), "l.r = r.r + 1"), 2)
    assertRemoved(joined(ranked("dense_rank()"), "l.r - 3 = r.r"), 2)
    assertRemoved(
      joined(ranked("row_number()", order = "v"), "2 + l.r = CAST(r.r AS BIGINT) - 1"),
      2)
    assertRemoved(joined(ranked("rank()"), "l.r = r.r AND l.o = r.o"), 2)
    assertRemoved(joined(ranked("row_number()", order = "v"), "l.r = r.r AND l.v <=> r.v"), 2)
  }

  test("with adaptive execution") {
    withConf("spark.sql.adaptive.enabled" -> true) {
      val sql = joined(ranked("rank()"), "l.r = r.r + 1")
      assertSameAnswer(sql)
      val data = spark.sql(sql)
      data.collect()
      assert(collectIn(executed(data)) { case known: InOrderExec => known }.size == 2)
      assert(fired(sql).contains(RemoveRedundantSort.name))
    }
  }

  test("a rank that may wrap around is not in order") {
    withConf("spark.sql.ansi.enabled" -> false) {
      assertRemoved(joined(ranked("rank()"), "l.r = r.r + 1"), 1)
      assertRemoved(joined(ranked("rank()"), "l.r - 1 = r.r"), 2)
      assertRemoved(joined(ranked("rank()"), "l.r + 1L = r.r"), 2)
      assertRemoved(joined(ranked("rank()"), s"l.r + ${Long.MaxValue - 5}L = r.r"), 1)
    }
  }

  test("sorts columns that ranks do not order") {
    // Rows of one rank are in any order of v. A window by a case-insensitive string starts a new
    // partition with each spelling.
    assertRemoved(joined(ranked("rank()"), "l.r = r.r AND l.v = r.v"), 0)
    assertRemoved(joined(ranked("sum(v)"), "l.r = r.r"), 0)
    assertRemoved(joined(ranked("rank()"), "-l.r = -r.r"), 0)
    Seq("c", "d").foreach { by =>
      val rows = ranked("rank()", by)
      assertRemoved(
        s"SELECT l.r FROM ($rows) AS l JOIN ($rows) AS r ON l.$by = r.$by AND l.r = r.r",
        0)
    }
  }

  test("a window, and its ranks, start again with each spelling of a key") {
    Seq("c" -> 0, "k" -> 1).foreach { case (by, fewer) =>
      // Answers are not compared: Spark's own plan does not define which spelling is first.
      val sql = s"SELECT sum(v) OVER (PARTITION BY $by ORDER BY r) FROM (${ranked("rank()", by)})"
      assert(removed(sql) == fewer, explain(sql).plan)
    }
  }

  test("sums of the same floats may differ") {
    spark
      .sql(
        "SELECT * FROM VALUES (1, 1, 1e16D, -1e16D, 1D), (1, 2, 0.5D, 0D, 0D) AS t(k, id, a, b, c)")
      .createOrReplaceTempView("floats")
    assertRemoved(
      """SELECT k, id, n, w, row_number() OVER (PARTITION BY k ORDER BY a + (b + c)) AS r
        FROM (SELECT *, sum(id) OVER (PARTITION BY k ORDER BY (a + b) + c) AS w
        FROM (SELECT *, count(*) OVER (PARTITION BY k) AS n FROM floats))""",
      0
    )
  }

  test("columns computed of computed columns, thirty times") {
    val start = spark.sql("SELECT *, max(v) OVER (PARTITION BY k) AS m, v AS x FROM t")
    val computed = (1 to 30).foldLeft(start) { (data, i) =>
      data.withColumn("x", expr(s"IF(x > $i, x - $i, x)"))
    }
    val ranked = computed.withColumn("r", expr("row_number() OVER (PARTITION BY k ORDER BY x)"))
    assert(collectIn(executed(ranked)) { case known: InOrderExec => known }.isEmpty)
  }

  test("another order is another order") {
    assertRemoved(
      s"SELECT *, sum(v) OVER (PARTITION BY k ORDER BY r DESC) FROM (${ranked("rank()")})",
      0)
    assertRemoved(
      s"SELECT *, sum(v) OVER (PARTITION BY k ORDER BY o DESC) FROM (${ranked("rank()")})",
      0)
    assertRemoved(
      s"SELECT *, sum(v) OVER (PARTITION BY k ORDER BY r) FROM (${ranked("rank()")})",
      1)
    assertRemoved(
      """SELECT *, sum(v) OVER (PARTITION BY k ORDER BY a) FROM (SELECT k, o AS b, b AS a, v FROM
        (SELECT k, o, v AS b, v, rank() OVER (PARTITION BY k ORDER BY o) FROM t))""",
      0
    )
  }

  test("switched off") {
    Seq(ShuffleConf.ENABLED.key, "spark.sql.execution.removeRedundantSorts").foreach { switch =>
      withConf(switch -> false)(assertRemoved(joined(ranked("rank()"), "l.r = r.r"), 0))
    }
  }
}

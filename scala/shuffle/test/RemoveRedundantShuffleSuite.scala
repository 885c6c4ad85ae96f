package io.firesteel.shuffle

import io.firesteel.testkit.SinceSpark
import org.apache.spark.sql.Row

/** Named query shapes: one shuffle fewer and the same rows, or Spark's plan. */
class RemoveRedundantShuffleSuite extends ShuffleSuite {

  // These tests look at plans: compiling each query would take most of the time.
  override protected def settings: Map[String, String] = Map(
    "spark.sql.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.codegen.wholeStage" -> "false",
    "spark.sql.codegen.factoryMode" -> "NO_CODEGEN")

  override def beforeAll(): Unit = {
    super.beforeAll()
    Seq("t" -> 4000, "u" -> 1500).foreach { case (name, rows) =>
      spark
        .sql(
          s"""SELECT IF(id % 11 = 0, NULL, id * 7 % 101) AS a, IF(id % 13 = 0, NULL, id % 7) AS b,
          concat('s', id % 5) AS c, CAST(id % 9 AS DOUBLE) / 2 AS d, id AS v
          FROM range(0, $rows, 1, 3)""")
        .createOrReplaceTempView(name)
    }
    spark.table("t").write.bucketBy(4, "a").saveAsTable("buckets")
    spark.table("t").repartition(5, spark.table("t")("a")).createOrReplaceTempView("cached")
    spark.catalog.cacheTable("cached")
    spark.table("cached").foreach(_ => ())
  }

  private val agg = "SELECT a, b, sum(v) AS s FROM t GROUP BY a, b"

  private val narrow =
    "SELECT CAST(a AS INT) AS i, b, sum(v) AS s FROM t GROUP BY CAST(a AS INT), b"

  /** Queries, with the shuffles of Spark's plan and of ours. */
  private val fewer = Seq(
    (s"SELECT *, rank() OVER (PARTITION BY a ORDER BY s) AS r FROM ($agg)", 2, 1),
    (s"SELECT *, sum(s) OVER (PARTITION BY a) / s AS r FROM ($agg) WHERE s > 10", 2, 1),
    (s"SELECT a, count(*), sum(s) FROM ($agg) GROUP BY a", 2, 1),
    (s"SELECT x, count(*) FROM (SELECT a AS x, s + 1 AS y FROM ($agg)) GROUP BY x", 2, 1),
    (
      """SELECT a, min(m) FROM (SELECT a, b, max(s) AS m FROM
      (SELECT a, b, c, sum(v) AS s FROM t GROUP BY a, b, c) GROUP BY a, b) GROUP BY a""",
      3,
      1),
    (s"SELECT * FROM ($agg) AS l JOIN u ON l.a = u.a", 3, 2),
    (s"SELECT * FROM ($agg) AS l LEFT JOIN u ON l.a = u.a", 3, 2),
    (s"SELECT * FROM ($agg) AS l LEFT SEMI JOIN u ON l.a = u.a", 3, 2),
    (s"SELECT * FROM ($agg) AS l LEFT ANTI JOIN u ON l.b = u.b", 3, 2),
    (s"SELECT * FROM u RIGHT JOIN ($agg) AS l ON l.a = u.a", 3, 2),
    (s"SELECT * FROM ($agg) AS l FULL JOIN u ON l.a = u.a", 3, 2),
    (
      s"SELECT * FROM ($agg) AS l JOIN (SELECT a, c, max(v) AS m FROM u GROUP BY a, c) AS r ON l.a = r.a",
      4,
      2),
    ("SELECT t.a, count(*) FROM t JOIN u ON t.a = u.a AND t.b = u.b GROUP BY t.a", 3, 2),
    ("SELECT u.b, count(*) FROM t JOIN u ON t.a = u.a AND t.b = u.b GROUP BY u.b", 3, 2),
    ("SELECT t.a, count(*) FROM t LEFT JOIN u ON t.a = u.a AND t.b = u.b GROUP BY t.a", 3, 2),
    ("SELECT u.a, count(*) FROM t RIGHT JOIN u ON t.a = u.a AND t.b = u.b GROUP BY u.a", 3, 2),
    ("SELECT t.b, count(*) FROM t LEFT SEMI JOIN u ON t.a = u.a AND t.b = u.b GROUP BY t.b", 3, 2),
    (
      "SELECT * FROM (SELECT a, sum(v) AS s FROM t GROUP BY a) AS l JOIN u ON l.a = u.a AND l.s = u.v",
      3,
      2),
    (
      "SELECT * FROM u JOIN (SELECT a, sum(v) AS s FROM t GROUP BY a) AS l ON l.s = u.v AND l.a = u.a",
      3,
      2),
    (
      """SELECT x.a, x.s, y.v FROM (SELECT t.a, t.b, t.v + u.v AS s FROM t JOIN u ON t.a = u.a AND
      t.b = u.b) AS x JOIN u AS y ON x.a = y.a""",
      4,
      3),
    (s"SELECT a, max(e) FROM (SELECT *, explode(array(s, 1)) AS e FROM ($agg)) GROUP BY a", 2, 1),
    (
      s"SELECT /*+ BROADCAST(u) */ l.a, sum(u.v) FROM ($agg) AS l JOIN u ON l.b = u.b GROUP BY l.a",
      2,
      1),
    (
      s"SELECT a, count(*), sum(s) FROM ($agg UNION ALL SELECT a, b, max(v) FROM u GROUP BY a, b) GROUP BY a",
      3,
      2),
    (
      "SELECT m, count(*) FROM (SELECT a, c, max(b) AS m FROM t GROUP BY a, c) WHERE m = a GROUP BY m",
      2,
      1),
    (
      "SELECT l.b, count(*) FROM buckets AS l JOIN u ON l.a = u.a WHERE l.a = l.b GROUP BY l.b",
      2,
      1),
    (s"SELECT * FROM ($narrow) AS l JOIN u ON l.i = u.a", 3, 2),
    (s"SELECT * FROM u LEFT JOIN ($narrow) AS l ON l.i = u.a", 3, 2),
    (
      s"SELECT x, count(*), sum(s) FROM (SELECT CAST(i AS BIGINT) AS x, s FROM ($narrow)) GROUP BY x",
      2,
      1),
    (
      s"SELECT /*+ BROADCAST(u) */ u.b, sum(l.s) FROM ($agg) AS l JOIN u ON l.b = u.b GROUP BY u.b",
      2,
      1),
    ("SELECT * FROM buckets AS l JOIN u ON l.a = u.a AND l.b = u.b", 2, 1),
    (
      "SELECT * FROM u LEFT JOIN (SELECT * FROM buckets WHERE v > 9) AS l ON l.b = u.b AND l.a = u.a",
      2,
      1),
    ("SELECT * FROM cached AS l JOIN u ON l.a = u.a AND l.b = u.b", 2, 1),
    (
      """SELECT * FROM (SELECT *, max(v) OVER (PARTITION BY a) AS w FROM
      (SELECT /*+ REPARTITION(4, a) */ * FROM t)) AS l JOIN u ON l.a = u.a AND l.b = u.b""",
      3,
      2),
    ("SELECT a, count(*), sum(u.v) FROM t FULL JOIN u USING (a) GROUP BY a", 3, 2),
    ("SELECT a, count(*), sum(u.v) FROM t FULL JOIN u USING (a, b) GROUP BY a", 3, 2),
    ("SELECT b, a, count(*) FROM t FULL JOIN u USING (a, b) GROUP BY b, a", 3, 2),
    (
      """SELECT IF(u.a IS NULL, t.a, u.a) AS x, count(*) FROM t FULL JOIN u ON t.a = u.a
      GROUP BY IF(u.a IS NULL, t.a, u.a)""",
      3,
      2),
    (
      s"""SELECT a, count(*) FROM ($agg) AS t FULL JOIN (SELECT a, sum(v) AS v FROM u GROUP BY a) AS u
      USING (a) FULL JOIN (SELECT a, max(b) AS m FROM u GROUP BY a, c) AS w USING (a) GROUP BY a""",
      7,
      3),
    (
      """SELECT x, y, sum(l), max(r) OVER (PARTITION BY x) FROM (SELECT
        CASE WHEN l.a IS NOT NULL THEN l.a ELSE r.a END AS x,
        CASE WHEN l.b IS NOT NULL THEN l.b ELSE r.b END AS y, l.s AS l, r.s AS r
      FROM (SELECT a, b, sum(sum(v)) OVER (PARTITION BY a ORDER BY b) AS s FROM t GROUP BY a, b) AS l
      FULL JOIN (SELECT a, b, sum(max(v)) OVER (PARTITION BY a ORDER BY b) AS s FROM u GROUP BY a, b) AS r
      ON l.a = r.a AND l.b = r.b) GROUP BY x, y, r""",
      8,
      2),
    (
      s"""WITH w AS (SELECT a, b, s, rank() OVER (PARTITION BY a ORDER BY s, b) AS r FROM ($agg))
      SELECT x.a, x.s, y.s FROM w AS x JOIN w AS y ON x.a = y.a AND x.r = y.r + 1""",
      4,
      1),
    (
      s"""WITH w AS (SELECT a, b, s, rank() OVER (PARTITION BY a ORDER BY s, b) AS r FROM ($agg))
      SELECT x.a, x.s, y.s, z.s FROM w AS x JOIN w AS y ON x.a = y.a AND x.r = y.r + 1
      LEFT JOIN (SELECT a, b, s, rank() OVER (PARTITION BY a ORDER BY s DESC, b) AS r FROM ($agg)
      WHERE s > 100) AS z ON x.a = z.a AND x.r = z.r""",
      6,
      1),
    (
      "SELECT x, max(w) FROM (SELECT a AS x, sum(v) OVER (PARTITION BY a, b) AS w FROM t) GROUP BY x",
      2,
      1),
    (
      """SELECT y, c, max(w + r) FROM (SELECT c, d AS x, a AS y, b AS z, max(v) OVER (PARTITION BY c, b, a) AS w,
      rank() OVER (PARTITION BY a, c, d, b ORDER BY v) AS r FROM t) GROUP BY y, c""",
      2,
      1),
    ("SELECT count(DISTINCT b) FROM t GROUP BY a", 2, 1),
    ("SELECT a, count(DISTINCT b), sum(v) FROM t GROUP BY a", 2, 1)
  ).filter { case (sql, _, _) => SinceSpark.is("4.1") || !sql.contains("UNION ALL") }

  private def sortedText(rows: Seq[Row]): Seq[String] = rows.map(_.toString).sorted

  for {
    ((sql, theirs, ours), i) <- fewer.zipWithIndex
    adaptive <- Seq(true, false)
  } test(s"$i: ${sql.take(90)}, adaptive $adaptive") {
    withConf(ungated, "spark.sql.adaptive.enabled" -> adaptive) {
      val found = spark.sql(sql)
      val rows = found.collect().toSeq
      val (expected, before) = stock {
        val data = spark.sql(sql)
        (data.collect().toSeq, shufflesOf(data))
      }
      assert((before, shufflesOf(found)) == ((theirs, ours)), executed(found))
      assertSameRows(rows, expected, sql)
      assert(fired(sql).toSet - RemoveRedundantSort.name == Set("RemoveRedundantShuffle"))
    }
  }

  test("leaves to Spark, without a reason") {
    Seq(
      "SELECT b, count(*) FROM (SELECT a, max(b) AS b FROM t GROUP BY a) GROUP BY b",
      "SELECT u.b, count(*) FROM t LEFT JOIN u ON t.a = u.a AND t.b = u.b GROUP BY u.b",
      "SELECT t.a, count(*) FROM t FULL JOIN u ON t.a = u.a AND t.b = u.b GROUP BY t.a",
      "SELECT coalesce(t.a, u.b), count(*) FROM t FULL JOIN u ON t.a = u.a GROUP BY 1",
      "SELECT coalesce(t.a, u.a), count(*) FROM t FULL JOIN u ON t.a <=> u.a GROUP BY 1",
      "SELECT d, count(*) FROM t FULL JOIN u USING (d) GROUP BY d",
      "SELECT x, count(*) FROM (SELECT coalesce(t.a, u.a, 1) AS x FROM t FULL JOIN u ON t.a = u.a) GROUP BY x",
      "SELECT t.b, count(*) FROM t JOIN u ON t.a = u.a GROUP BY t.b",
      s"SELECT a + 1, count(*) FROM ($agg) GROUP BY a + 1",
      s"SELECT * FROM ($agg) ORDER BY a",
      s"SELECT sum(s) FROM ($agg)",
      "SELECT a, count(*) FROM (SELECT /*+ REPARTITION(5, a, b) */ * FROM t) GROUP BY a",
      "SELECT a, b, count(*) FROM (SELECT /*+ REPARTITION(5, a) */ * FROM t) GROUP BY a, b"
    ).foreach { sql =>
      for (adaptive <- Seq(true, false))
        withConf(ungated, "spark.sql.adaptive.enabled" -> adaptive) {
          assert(explain(sql).fired.isEmpty && explain(sql).declined.isEmpty, sql)
          val (ours, theirs) = (spark.sql(sql), spark.sql(sql))
          ours.collect()
          stock(theirs.collect())
          assert(shufflesOf(ours) == shufflesOf(theirs), sql)
          assert(sortedText(ours.collect().toSeq) == sortedText(theirs.collect().toSeq), sql)
        }
    }
  }

  test("a user's own repartition stays") {
    val data = spark.table("t").repartition(7, spark.table("t")("a"), spark.table("t")("b"))
    withConf(ungated) {
      val grouped = data.groupBy("a").count()
      grouped.collect()
      assert(shufflesOf(grouped) == 2)
    }
  }

  test("a table in too few buckets, or with one that is too large, does not decide for the other") {
    val join = "SELECT * FROM %s AS l JOIN u ON l.a = u.a AND l.b = u.b"
    spark.table("t").write.bucketBy(1, "a").saveAsTable("one_bucket")
    spark
      .sql("SELECT IF(id < 5900, 7, id) AS a, id % 7 AS b, id AS v FROM range(6000)")
      .write
      .bucketBy(4, "a")
      .saveAsTable("large_bucket")
    Seq(
      ("one_bucket", "SHUFFLE.FEW_PARTITIONS"),
      ("large_bucket", "SHUFFLE.LARGE_BUCKET"),
      ("buckets", "SHUFFLE.UNKNOWN_KEYS")).foreach { case (table, code) =>
      assert(declines(join.format(table)) == Set(code), table)
      assert(fired(join.format(table)).isEmpty, table)
    }
  }

  test("columns whose equal values may have different bytes do not replace each other") {
    spark
      .sql("""SELECT CAST(id % 5 AS DOUBLE) AS x, elt(CAST(id % 3 AS INT) + 1, 'a', 'A', 'b') COLLATE UTF8_LCASE AS y,
        id % 4 AS z, id AS v FROM range(200)""")
      .createOrReplaceTempView("inexact")
    withConf(ungated) {
      Seq(
        "SELECT m, count(*) FROM (SELECT x, z, max(CAST(v AS DOUBLE)) AS m FROM inexact GROUP BY x, z) WHERE m = x GROUP BY m",
        "SELECT m, count(*) FROM (SELECT y, z, max(y) AS m FROM inexact GROUP BY y, z) WHERE m = y GROUP BY m",
        "SELECT CAST(y AS STRING) AS m, count(*) FROM (SELECT y, z, max(v) AS w FROM inexact GROUP BY y, z) GROUP BY CAST(y AS STRING)"
      ).foreach { sql =>
        assertSameAnswer(sql)
        assert(fired(sql).isEmpty, sql)
      }
    }
  }

  test("a shuffle that is used twice is not changed for one of them") {
    withConf(ungated) {
      val sql = s"""WITH x AS ($agg) SELECT p.a, p.r, q.s FROM
        (SELECT a, b, rank() OVER (PARTITION BY a ORDER BY s) AS r FROM x) AS p
        JOIN x AS q ON p.a = q.a AND p.b = q.b"""
      assertSameAnswer(sql)
      val (ours, theirs) = (spark.sql(sql), spark.sql(sql))
      ours.collect()
      stock(theirs.collect())
      assert(shufflesOf(ours) <= shufflesOf(theirs))
    }
  }

  test("the filtered rows of a shuffle that is used twice are shuffled again") {
    val few = "(SELECT a, b, count(*) AS n FROM t GROUP BY a, b HAVING count(*) > 50)"
    val sql = s"SELECT u.v FROM u LEFT SEMI JOIN $few AS f ON u.a = f.a " +
      s"UNION ALL SELECT u.b FROM u LEFT SEMI JOIN $few AS f ON u.a = f.a"
    withConf(ungated) {
      assert(declines(sql) == Set("SHUFFLE.REUSED") && fired(sql).isEmpty, explain(sql))
      assertSameAnswer(sql)
    }
  }

  test("a redundant sort is removed with its shuffle") {
    withConf(ungated, "spark.sql.adaptive.enabled" -> false) {
      val sql = """SELECT *, sum(s) OVER (PARTITION BY a) FROM
        (SELECT a, b, v, rank() OVER (PARTITION BY a, b ORDER BY v) AS s FROM t)"""
      assertSameAnswer(sql)
      assert(fired(sql) == Seq("RemoveRedundantShuffle"))
      assert(explain(sql).plan.linesIterator.count(_.contains("Sort [")) == 1, explain(sql).plan)
    }
  }

  test("switched off") {
    val sql = s"SELECT a, count(*) FROM ($agg) GROUP BY a"
    withConf(ungated, ShuffleConf.ENABLED.key -> false) {
      assert(declines(sql) == Set("SHUFFLE.SWITCHED_OFF"))
      assert(fired(sql).isEmpty)
    }
  }

  test("a full outer join reports its partitioning also uncompiled and below a union") {
    val branch = "SELECT a, t.v FROM t FULL JOIN u USING (a)"
    val sql = s"SELECT a, count(*) FROM ($branch UNION ALL $branch) GROUP BY a"
    for {
      adaptive <- Seq(true, false)
      compiled <- Seq(true, false)
    } withConf(
      ungated,
      "spark.sql.adaptive.enabled" -> adaptive,
      "spark.sql.codegen.wholeStage" -> true,
      "spark.sql.codegen.factoryMode" -> "FALLBACK",
      "spark.sql.codegen.join.fullOuterSortMergeJoin.enabled" -> compiled
    ) {
      assertSameAnswer(sql)
      SinceSpark("4.1")(assert(fired(sql).contains(RemoveRedundantShuffle.name)))
    }
  }

  if (!SinceSpark.is("4.1"))
    test("declines a shuffle above a union, which does not say how it lies") {
      val sql = s"SELECT a, count(*), sum(s) FROM ($agg UNION ALL SELECT a, b, max(v) FROM u " +
        "GROUP BY a, b) GROUP BY a"
      for (adaptive <- Seq(true, false))
        withConf(ungated, "spark.sql.adaptive.enabled" -> adaptive) {
          assert(declines(sql) == Set("SHUFFLE.UNION_NEEDS_SPARK_4_1"), explain(sql))
          assertSameAnswer(sql)
        }
    }

  test("a shuffle that a subquery also uses is not changed") {
    val sql = s"WITH s AS ($agg) SELECT *, rank() OVER (PARTITION BY a ORDER BY s) AS r FROM s " +
      "WHERE s > (SELECT avg(s) FROM s)"
    for (adaptive <- Seq(true, false))
      withConf(ungated, "spark.sql.adaptive.enabled" -> adaptive) {
        assert(explain(sql).declined.map(_.why.code) == Seq("SHUFFLE.REUSED"))
        assertSameAnswer(sql)
      }
  }

  test("a table with a file that belongs to no bucket is read as Spark reads it") {
    spark.table("t").write.bucketBy(4, "a").saveAsTable("one_more")
    val folder = spark.table("one_more").inputFiles.head.replaceAll("/[^/]*$", "")
    spark.table("t").limit(10).write.mode("append").parquet(folder)
    spark.catalog.refreshTable("one_more")
    withConf(ungated)(assertSameAnswer(
      "SELECT * FROM one_more AS l JOIN u ON l.a = u.a AND l.b = u.b"))
  }

  test("adaptive execution may be switched off between the plan and the run") {
    val sql =
      "SELECT * FROM cached AS c JOIN (SELECT a, sum(v) AS s FROM u GROUP BY a) AS w ON c.a = w.a"
    withConf(ungated) {
      val planned = spark.sql(sql)
      assert(planned.queryExecution.executedPlan.nodeName == "AdaptiveSparkPlan")
      withConf("spark.sql.adaptive.enabled" -> false) {
        assertSameRows(planned.collect().toSeq, stock(spark.sql(sql).collect().toSeq), sql)
      }
    }
  }
}

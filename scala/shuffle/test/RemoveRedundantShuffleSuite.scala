package io.firesteel.shuffle

import org.apache.spark.sql.Row

/** Named shapes: one shuffle fewer and the same rows, or Spark's plan. */
class RemoveRedundantShuffleSuite extends ShuffleSuite {

  override protected def settings: Map[String, String] =
    Map("spark.sql.autoBroadcastJoinThreshold" -> "-1")

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
  }

  private val agg = "SELECT a, b, sum(v) AS s FROM t GROUP BY a, b"

  /** Queries, the shuffles of Spark's plan, and those of ours. */
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
    ("SELECT count(DISTINCT b) FROM t GROUP BY a", 2, 1),
    ("SELECT a, count(DISTINCT b), sum(v) FROM t GROUP BY a", 2, 1)
  )

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
      assert(fired(sql).toSet == Set("RemoveRedundantShuffle"))
    }
  }

  test("what stays as Spark has it, without a word") {
    Seq(
      "SELECT b, count(*) FROM (SELECT a, max(b) AS b FROM t GROUP BY a) GROUP BY b",
      "SELECT u.b, count(*) FROM t LEFT JOIN u ON t.a = u.a AND t.b = u.b GROUP BY u.b",
      "SELECT t.a, count(*) FROM t FULL JOIN u ON t.a = u.a AND t.b = u.b GROUP BY t.a",
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

  test("a redundant sort goes with its shuffle") {
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
}

package io.firesteel.rank

import io.firesteel.testkit.SinceSpark
import org.apache.spark.sql.execution.{FilterExec, SparkPlan}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.internal.SQLConf

/** For which queries the rule fires, for which it declines and why, and the plans. */
class PlanTopNSuite extends RankSuite with AdaptiveSparkPlanHelper {

  private val table =
    "VALUES ('a', 3), ('a', 2), ('a', 2), ('a', 1), ('b', 9), (null, 5), (null, null) AS t(k, v)"

  private val table2 = "VALUES ('a', 1), ('a', 2), ('a', 3), ('b', 1) AS t2(k, v)"

  private def top(
      condition: String,
      rank: String = "row_number()",
      keys: String = "PARTITION BY k",
      columns: String = "k, v, rn"): String =
    s"""SELECT $columns FROM (
       |  SELECT *, $rank OVER ($keys ORDER BY v DESC) AS rn FROM (SELECT * FROM $table)
       |) WHERE $condition""".stripMargin

  private def bounds(sql: String): Seq[RankBound] =
    collect(executed(spark.sql(sql))) { case topN: TopNExec => topN.bound }

  private val bounded = Seq(
    "rn <= 2" -> 2,
    "rn < 3" -> 2,
    "rn = 2" -> 2,
    "2 >= rn" -> 2,
    "3 > rn" -> 2,
    "2 = rn" -> 2,
    "rn <=> 2" -> 2,
    "rn BETWEEN 2 AND 3" -> 3,
    "rn IN (1, 3)" -> 3,
    "rn IN (3)" -> 3,
    "rn IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)" -> 13,
    "rn <= 2 OR rn = 4" -> 4,
    "NOT rn > 2" -> 2,
    "rn <= 2 AND v > 1" -> 2,
    "rn <= 4 AND rn <= 2 AND rn >= 1" -> 2,
    "rn <= 2L" -> 2,
    "rn <= 2.5" -> 2,
    "rn <= 1 + 1" -> 2
  )

  for {
    rank <- Seq("row_number()", "rank()", "dense_rank()")
    (condition, limit) <- bounded
  } {
    test(s"keeps the first $limit of $rank for $condition, with Spark's answer") {
      assert(bounds(top(condition, rank)).map(_.limit) == Seq(limit))
      // ROW_NUMBER may choose any row among ties of v. Selecting only (k, v) hides the choice.
      assertSameAnswer(top(condition, rank))
    }
  }

  test("takes no PARTITION BY, several keys, expressions as keys and as order keys") {
    Seq(
      s"SELECT v FROM (SELECT *, rank() OVER (ORDER BY v) r FROM $table) WHERE r <= 2",
      s"SELECT k, v FROM (SELECT *, rank() OVER (PARTITION BY k, v ORDER BY v) r FROM $table) WHERE r = 1",
      "SELECT k, v FROM (SELECT *, rank() OVER (PARTITION BY upper(k) ORDER BY -v NULLS LAST, k) r " +
        s"FROM $table) WHERE r <= 2",
      s"SELECT k, v FROM (SELECT *, rank() OVER (PARTITION BY k ORDER BY 1) r FROM $table) WHERE r <= 2"
    )
      .foreach { sql =>
        assert(fired(sql) == Seq("PlanTopN"), sql)
        assertSameAnswer(sql)
      }
  }

  test("takes QUALIFY, views, the DataFrame API and aliases between") {
    import org.apache.spark.sql.expressions.{Window => W}
    import org.apache.spark.sql.functions.{col, row_number}

    SinceSpark("4.2") {
      val qualify = "QUALIFY row_number() OVER (PARTITION BY k ORDER BY v) = 1"
      assert(fired(s"SELECT k, v FROM $table $qualify").nonEmpty)
    }
    spark.sql(top("true")).createOrReplaceTempView("ranked")
    assert(fired("SELECT k FROM (SELECT k, rn % 7 AS place FROM ranked) WHERE place <= 2").isEmpty)
    assert(fired("SELECT k FROM (SELECT k, rn AS place FROM ranked) WHERE place <= 2").nonEmpty)
    val data = spark
      .sql(s"SELECT * FROM $table")
      .withColumn("place", row_number().over(W.partitionBy("k").orderBy(col("v").desc)))
      .where(col("place") <= 1)
      .drop("place")
    assert(collect(executed(data)) { case t: TopNExec => t }.length == 1)
  }

  test("takes several rank functions of one window, each with its own bound") {
    val sql =
      s"""SELECT * FROM (
         |  SELECT *, row_number() OVER w AS rn, rank() OVER w AS rk, dense_rank() OVER w AS dr
         |  FROM $table WINDOW w AS (PARTITION BY k ORDER BY v DESC)) WHERE""".stripMargin
    val rn = RankFunction.RowNumbers
    assert(bounds(s"$sql rn <= 3 AND rk <= 1") == Seq(RankBound(rn, 3)))
    assert(bounds(s"$sql rn <= 64 AND rk <= 1") == Seq(RankBound(rn, 64)))
    assert(bounds(s"$sql rn <= 65 AND rk <= 1") == Seq(RankBound(RankFunction.Ranks, 1)))
    assert(bounds(s"$sql rk <= 2 AND dr <= 5") == Seq(RankBound(RankFunction.Ranks, 2)))
    assert(bounds(s"$sql rn <= 2 OR dr <= 1") == Seq(RankBound(RankFunction.DenseRanks, 2)))
    Seq("rn <= 3 AND rk <= 1", "rk <= 2 AND dr <= 5", "rn <= 2 OR dr <= 1", "dr = 2").foreach {
      condition => assertSameAnswer(s"$sql $condition")
    }
  }

  test("gives the empty answer for n <= 0, as Spark does") {
    Seq("rn <= 0", "rn < 1", "rn = 0", "rn <= -5", "rn IN (0, -1)", "rn < -2147483648").foreach {
      condition =>
        assert(spark.sql(top(condition)).collect().isEmpty, condition)
        assertSameAnswer(top(condition))
    }
  }

  test("drops the rank column and the filter when nothing above reads them") {
    def nodes(sql: String): Seq[SparkPlan] = collect(executed(spark.sql(sql))) { case p => p }
    val pruned = nodes(top("rn <= 2", columns = "k, v"))
    assert(pruned.collect { case t: TopNExec => t.ranks } == Seq(Nil))
    assert(pruned.collect { case f: FilterExec => f }.isEmpty)
    val read = nodes(top("rn BETWEEN 2 AND 3", columns = "k, v"))
    assert(read.collect { case t: TopNExec => t.ranks.map(_.name) } == Seq(Seq("rn")))
  }

  private val declined = Seq(
    "rn >= 2" -> "RANK.NO_UPPER_BOUND",
    "rn <> 2" -> "RANK.NO_UPPER_BOUND",
    "rn <= v" -> "RANK.NO_UPPER_BOUND",
    "rn % 2 = 0" -> "RANK.NO_UPPER_BOUND",
    "rn <= 2 OR v > 1" -> "RANK.NO_UPPER_BOUND",
    "rn <= (SELECT max(v) FROM VALUES (1), (2) AS l(v))" -> "RANK.NO_UPPER_BOUND",
    "rn <= 1001" -> "RANK.LIMIT_TOO_LARGE"
  )

  declined.foreach { case (condition, code) =>
    test(s"declines $condition: $code") {
      assert(declines(top(condition)) == Set(code))
      assert(declines(top(condition, columns = "k")) == Set(code), "with columns pruned")
      assertSameAnswer(top(condition))
    }
  }

  test("declines a function beside the rank that needs every row") {
    val sql =
      s"""SELECT * FROM (SELECT *, row_number() OVER w AS rn, sum(v) OVER w AS s FROM $table
         |WINDOW w AS (PARTITION BY k ORDER BY v)) WHERE rn <= 1""".stripMargin
    assert(declines(sql) == Set("RANK.OTHER_FUNCTION"))
  }

  Seq(
    "sum(CAST(v AS DECIMAL(7, 2)))",
    "avg(CAST(v AS DECIMAL(7, 2)))",
    "count(NULL)",
    "count(CAST(NULL AS INT))",
    "avg(CAST(v AS DECIMAL(20, 2)))"
  ).foreach { call =>
    test(s"declines a function of which the optimizer makes another: $call") {
      val sql =
        s"""SELECT * FROM (SELECT *, row_number() OVER w AS rn, $call OVER w AS s FROM $table
           |WINDOW w AS (PARTITION BY k ORDER BY v)) WHERE rn <= 2""".stripMargin
      assert(declines(sql) == Set("RANK.OTHER_FUNCTION"))
      assertSameAnswer(sql)
      SinceSpark("4.2") {
        val qualified = s"SELECT k, $call OVER (PARTITION BY k ORDER BY v) AS s FROM $table " +
          "QUALIFY row_number() OVER (PARTITION BY k ORDER BY v) = 1"
        assertDecided(qualified, "Window ")
        assertSameAnswer(qualified)
      }
    }
  }

  test("explains a command that has run") {
    spark.sql("CREATE TABLE firsts (k STRING, rn INT) USING parquet")
    try {
      val insert = s"INSERT INTO firsts SELECT k, rn FROM (${top("rn <= 2")})"
      assert(fired(insert) == Seq("PlanTopN"))
      assert(spark.table("firsts").count() == spark.sql(top("rn <= 2")).count())
    } finally {
      val _ = spark.sql("DROP TABLE firsts")
    }
  }

  test("declines a window between the rank and its filter, fires for a window below") {
    val inner = s"SELECT *, rank() OVER (PARTITION BY k ORDER BY v) AS rk FROM $table"
    val outer = s"SELECT *, rank() OVER (PARTITION BY v ORDER BY k) AS other FROM ($inner)"
    assert(declines(s"SELECT * FROM ($outer) WHERE rk <= 1 OR other <= 1") ==
      Set("RANK.SEVERAL_WINDOWS"))
    assert(declines(s"SELECT * FROM ($outer) WHERE rk <= 1 AND k = 'a'") ==
      Set("RANK.OTHER_WINDOW_ABOVE"))
    Seq("rk <= 1", "other <= 1", "rk <= 1 AND other <= 1", "rk <= 1 OR other <= 1").foreach { c =>
      assertDecided(s"SELECT * FROM ($outer) WHERE $c", "Window ")
      assertSameAnswer(s"SELECT * FROM ($outer) WHERE $c")
    }
  }

  test("numbers rows of a correlated LIMIT, which have no order") {
    Seq(
      s"SELECT k FROM $table WHERE EXISTS (SELECT 1 FROM $table2 WHERE t2.k = t.k LIMIT 2)",
      s"SELECT count(*) FROM $table, LATERAL (SELECT * FROM $table2 WHERE t2.k = t.k LIMIT 2)",
      s"SELECT k, (SELECT 7 FROM $table2 WHERE t2.k = t.k LIMIT 1) FROM $table"
    ).foreach { sql =>
      assertDecided(sql, "Window ")
      assertSameAnswer(sql)
    }
  }

  test("declines a projection between the filter and the window that Spark does not move") {
    val numbered = s"SELECT *, row_number() OVER (PARTITION BY k ORDER BY v) AS rn FROM $table"
    assert(declines(s"SELECT * FROM (SELECT *, rand() AS r FROM ($numbered)) WHERE rn <= 3") ==
      Set("RANK.PROJECTION_BETWEEN"))
    val optimizer = "org.apache.spark.sql.catalyst.optimizer"
    val pushdown = s"$optimizer.PushDownPredicates,$optimizer.PushPredicateThroughNonJoin"
    withConf(SQLConf.OPTIMIZER_EXCLUDED_RULES.key -> pushdown) {
      val sql = s"SELECT * FROM (SELECT k, v + 1 AS w, rn FROM ($numbered)) WHERE rn <= 1"
      assert(declines(sql) == Set("RANK.PROJECTION_BETWEEN"))
      assertSameAnswer(sql)
    }
  }

  test("leaves ROW_NUMBER without keys to Spark's own limit over a sort") {
    assert(declines(top("rn <= 2", keys = "")) == Set("RANK.SPARK_TAKES_ORDERED"))
    assert(fired(top("rn <= 2", rank = "rank()", keys = "")).nonEmpty)
    withConf(SQLConf.TOP_K_SORT_FALLBACK_THRESHOLD.key -> 2) {
      assert(fired(top("rn <= 2", keys = "")).nonEmpty, "Spark sorts all rows for it")
    }
  }

  test("with a switch off the plan is Spark's own, and explain has the reason") {
    val sql = top("rn <= 2")
    withConf(RankConf.ENABLED.key -> false) {
      assert(declines(sql) == Set("RANK.SWITCHED_OFF"))
      assert(fired(sql).isEmpty)
      val planned = executed(spark.sql(sql)).collect { case p => p.getClass.getName }
      assert(planned.forall(_.startsWith("org.apache.spark.")))
    }
  }

  test("maxLimit is read at each query") {
    withConf(RankConf.MAX_LIMIT.key -> 1) {
      assert(declines(top("rn <= 2")) == Set("RANK.LIMIT_TOO_LARGE"))
    }
    assert(fired(top("rn <= 2")).nonEmpty)
  }

  test("treats 0.0 and -0.0 as one key, as Spark's window does") {
    assertSameAnswer(
      """SELECT rn FROM (SELECT row_number() OVER (PARTITION BY k ORDER BY k) AS rn
        |FROM (SELECT explode(array(0.0D, -0.0D)) AS k)) WHERE rn <= 1""".stripMargin)
  }
}

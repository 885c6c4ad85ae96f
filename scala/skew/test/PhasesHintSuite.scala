package io.firesteel.skew

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.functions.{collect_set, count_distinct, col, sort_array}

/** The hints `TWO_PHASE` and `ONE_PHASE` at all places in a query. */
class PhasesHintSuite extends SkewSuite {

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark
      .sql("SELECT id % 7 AS k, id % 100 AS a, id % 50 AS b, id AS v FROM range(0, 5000, 1, 4)")
      .createOrReplaceTempView("t")
  }

  private val firing = Seq(
    "SELECT /*+ TWO_PHASE(5) */ count(DISTINCT a) FROM t",
    "SELECT /*+ two_phase */ k, count(DISTINCT a) FROM t GROUP BY k",
    "SELECT /*+ TWO_PHASE(5) */ k, count(DISTINCT a) AS n FROM t WHERE b > 3 GROUP BY k " +
      "HAVING count(DISTINCT a) > 2 ORDER BY count(DISTINCT a), k LIMIT 3",
    "SELECT /*+ TWO_PHASE(1) */ DISTINCT count(DISTINCT a) FROM t GROUP BY k",
    "SELECT /*+ TWO_PHASE(5) */ k, b, count(DISTINCT a) FROM t GROUP BY ROLLUP(k, b)",
    "SELECT /*+ TWO_PHASE(5) */ window.start, count(DISTINCT a) FROM t GROUP BY window(timestamp_seconds(v), '1 hour')",
    "SELECT /*+ TWO_PHASE(5) */ k + 1, sort_array(collect_set(a)) FROM t GROUP BY k + 1",
    "SELECT * FROM (SELECT /*+ TWO_PHASE */ k, count(DISTINCT a) FROM t GROUP BY ALL) WHERE k > 1",
    "SELECT * FROM t JOIN (SELECT /*+ TWO_PHASE(2) */ count(DISTINCT b) AS n FROM t) ON v < n",
    "SELECT * FROM t WHERE v < (SELECT /*+ TWO_PHASE(2) */ count(DISTINCT u.b) FROM t AS u)",
    "WITH c AS (SELECT /*+ TWO_PHASE(4) */ k, count(DISTINCT a) AS n FROM t GROUP BY k) " +
      "SELECT * FROM c AS x JOIN c AS y ON x.k = y.n - 9",
    "SELECT /*+ TWO_PHASE(3) */ t.k, count(DISTINCT u.a) FROM t JOIN t AS u ON t.k = u.b GROUP BY t.k"
  )

  firing.foreach { sql =>
    test(sql) {
      Seq(true, false).foreach { adaptive =>
        withConf("spark.sql.adaptive.enabled" -> adaptive) {
          val all = spark.sql(sql)
          val rows = all.collect().toSeq
          assert(executed(all).toString.contains("PartialDistinct"), sql)
          assertSameRows(rows, stock(spark.sql(sql).collect().toSeq), sql)
        }
      }
    }
  }

  test("the number of buckets is that of the exchange") {
    withConf("spark.sql.adaptive.enabled" -> false) {
      def partitions(hint: String): Int = spark
        .sql(s"SELECT /*+ $hint */ sort_array(collect_set(a)) FROM t")
        .queryExecution
        .executedPlan
        .collect { case merge: MergeDistinctExec => merge.child.outputPartitioning.numPartitions }
        .head
      assert(partitions("TWO_PHASE(11)") == 11)
      assert(partitions("TWO_PHASE") == 3)
    }
  }

  test("over a DataFrame with its aggregate") {
    val t = spark.table("t")
    Seq[DataFrame](
      t.groupBy("k").agg(count_distinct(col("a"))).hint("two_phase", 4),
      t.groupBy(
        "k").agg(sort_array(collect_set("a")).as("s")).where("size(s) > 1").hint("TWO_PHASE")
    ).foreach { data =>
      assert(data.queryExecution.executedPlan.toString.contains("PartialDistinct"))
    }
  }

  test("ONE_PHASE overrules the setting") {
    val sql = "SELECT /*+ ONE_PHASE */ k, count(DISTINCT a), count(DISTINCT b) FROM t GROUP BY k"
    withConf(SkewConf.PHASES.key -> "TWO_PHASE") {
      assert(declines(sql) == Set("SKEW.ONE_PHASE"))
      assert(fired(sql).isEmpty)
    }
    assertSameAnswer(sql)
  }

  test("aggregates that Spark splits itself") {
    Seq("sum(v)", "max_by(a, v)", "percentile(v, 0.5)").foreach { call =>
      val sql = s"SELECT /*+ TWO_PHASE(4) */ k, $call FROM t GROUP BY k"
      assert(declines(sql) == Set("SKEW.NOTHING_TO_SPLIT"), sql)
      assertSameAnswer(sql)
    }
  }

  private def refused(condition: String)(data: => DataFrame): Unit = {
    val error = intercept[AnalysisException](data.queryExecution.analyzed)
    val _ = assert(error.getCondition == condition, error.getMessage)
  }

  test("malformed hints") {
    Seq(
      "TWO_PHASE(0)",
      "TWO_PHASE(-1)",
      "TWO_PHASE('4')",
      "TWO_PHASE(2, 3)",
      "ONE_PHASE(1)").foreach {
      hint =>
        refused("FIRESTEEL_SKEW_MALFORMED_HINT")(
          spark.sql(s"SELECT /*+ $hint */ count(DISTINCT a) FROM t"))
    }
    refused("FIRESTEEL_SKEW_NOTHING_TO_HINT")(spark.sql("SELECT /*+ TWO_PHASE */ a FROM t"))
    refused("FIRESTEEL_SKEW_NOTHING_TO_HINT")(
      spark.sql("SELECT * FROM t WHERE a IN (SELECT /*+ ONE_PHASE */ b FROM t AS u)"))
    refused("FIRESTEEL_SKEW_NOTHING_TO_HINT")(spark.table("t").hint("two_phase"))
    // The hinted query block has columns only; the aggregate is above it.
    refused("FIRESTEEL_SKEW_NOTHING_TO_HINT") {
      spark.sql("SELECT /*+ TWO_PHASE */ k, a FROM t").where("a > 1").groupBy("k").count()
    }
  }

  test("switched off, a hint is ignored") {
    stock {
      val sql = "SELECT /*+ TWO_PHASE(4) */ a FROM t"
      assert(spark.sql(sql).count() == 5000)
    }
  }
}

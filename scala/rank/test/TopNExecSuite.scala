package io.firesteel.rank

import io.firesteel.testkit.RuleCheck
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.{SortExec, SparkPlan}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.internal.SQLConf

/** The operators' requirements on their input, properties of their output, and metrics. */
class TopNExecSuite extends RankSuite with AdaptiveSparkPlanHelper {

  private def view(): Unit =
    spark
      .range(0, 100000, 1, 4)
      .selectExpr("CAST(id % 7 AS INT) AS k", "(id * 7919) % 100003 AS v", "id")
      .createOrReplaceTempView("events")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    view()
  }

  private val topThree =
    "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v) rn FROM events) WHERE rn <= 3"

  private def ran(data: DataFrame): SparkPlan = {
    data.collect()
    executed(data)
  }

  private def nodes(plan: SparkPlan): Seq[SparkPlan] = collect(plan) { case p => p }

  private def metric(plan: SparkPlan, name: String): Long = plan.metrics(name).value

  test("shuffles no more rows than Spark's own group limit and sorts none") {
    val plan = ran(spark.sql(topThree))
    val shuffled = nodes(plan).collect { case e: ShuffleExchangeExec =>
      metric(e, "shuffleRecordsWritten")
    }
    assert(shuffled == Seq(4 * 7 * 3))
    assert(nodes(plan).collect { case s: SortExec => s }.isEmpty)
    val theirs = stock(ran(spark.sql(topThree)))
    assert(nodes(theirs).collect { case e: ShuffleExchangeExec =>
      metric(e, "shuffleRecordsWritten")
    } == shuffled)
  }

  test("heaps fill when their first row is requested") {
    withConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> false) {
      val data = spark.sql(topThree)
      val plan = executed(data)
      plan.execute().mapPartitions(_ => Iterator.empty[Int]).count()
      val above = nodes(plan).collect { case top: TopNExec => top }.head
      assert(metric(above, "numInputRows") == 0)
      assert(plan.execute().count() == 21 && metric(above, "numInputRows") == 4 * 7 * 3)
    }
  }

  test("counts input rows, kept rows and memory") {
    val plan = ran(spark.sql(topThree))
    val partial = nodes(plan).collectFirst { case p: PartialTopNExec => p }.get
    val topN = nodes(plan).collectFirst { case t: TopNExec => t }.get
    assert(metric(partial, "numInputRows") == 100000)
    assert(metric(partial, "numOutputRows") == 84 && metric(partial, "numTasksAside") == 0)
    assert(metric(topN, "numInputRows") == 84 && metric(topN, "numOutputRows") == 21)
    assert(metric(topN, "spillSize") == 0 && metric(topN, "peakMemory") > 0)
  }

  test("a task below the exchange passes rows through if nearly all keys are distinct") {
    val sql = topThree.replace("PARTITION BY k", "PARTITION BY v")
    withConf(RankConf.SAMPLE_ROWS.key -> 1000) {
      val plan = ran(spark.sql(sql))
      val partial = nodes(plan).collectFirst { case p: PartialTopNExec => p }.get
      assert(metric(partial, "numTasksAside") == 4)
      assertSameAnswer(sql)
    }
  }

  test("spills if memory is refused, even one giant group of ties, with Spark's answer") {
    val ties =
      "SELECT id, r FROM (SELECT *, rank() OVER (PARTITION BY k ORDER BY v % 2) r FROM events) WHERE r <= 2"
    withConf(RankConf.MAX_TASK_MEMORY.key -> "256k") {
      val plan = ran(spark.sql(ties))
      val partial = nodes(plan).collectFirst { case p: PartialTopNExec => p }.get
      assert(metric(partial, "numFlushedRows") > 0)
      assertSameAnswer(ties)
      assertSameAnswer(topThree.replace("rn <= 3", "rn <= 900"))
    }
  }

  test("loses no row of a union when it emits early or passes rows through") {
    // Union's generated code reads each child in a separate method.
    val union =
      """SELECT id AS k, id AS v, id FROM range(0, 30000, 1, 2) UNION ALL
        |SELECT id + 100000, id, id FROM range(0, 30000, 1, 2)""".stripMargin
    val sql = topThree.replace("FROM events", s"FROM ($union)").replace("BY k", "BY k % 50000")
    Seq(
      Seq(RankConf.SAMPLE_ROWS.key -> 1000),
      Seq(RankConf.MAX_TASK_MEMORY.key -> "100k"),
      Seq(RankConf.MAX_TASK_MEMORY.key -> "1")).foreach { settings =>
      withConf(settings: _*)(assertSameAnswer(sql))
    }
  }

  test("a later aggregate, window or join on the same key needs no further exchange") {
    Seq(
      s"SELECT k, sum(v) FROM ($topThree) GROUP BY k",
      s"SELECT *, sum(v) OVER (PARTITION BY k) FROM ($topThree)").foreach { sql =>
      val exchanges = nodes(ran(spark.sql(sql))).count(_.isInstanceOf[ShuffleExchangeExec])
      assert(exchanges == 1, sql)
      assertSameAnswer(sql)
    }
  }

  test("without keys the output is in order, and a later ORDER BY sorts nothing") {
    val sql =
      "SELECT v, r FROM (SELECT *, rank() OVER (ORDER BY v) r FROM events) WHERE r <= 3 ORDER BY v"
    withConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> false) {
      val plan = ran(spark.sql(sql))
      assert(nodes(plan).collect { case s: SortExec => s }.isEmpty, plan)
    }
    assertSameAnswer(sql)
  }

  test("input sorted by key and order is counted, not collected, and stays sorted") {
    val sorted =
      "SELECT /*+ REPARTITION(3, k) */ * FROM events"
    spark.sql(sorted).sortWithinPartitions("k", "v").createOrReplaceTempView("sorted_events")
    val sql = topThree.replace("FROM events", "FROM sorted_events")
    withConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> false) {
      val plan = ran(spark.sql(sql))
      assert(nodes(plan).collect { case t: TopNExec => t.sortedInput } == Seq(true), plan)
      assert(nodes(plan).collect { case p: PartialTopNExec => p }.isEmpty, plan)
      assert(nodes(plan).count(_.isInstanceOf[ShuffleExchangeExec]) == 1)
    }
    assertSameAnswer(sql)
  }

  test("the partial half is removed if no exchange is needed") {
    spark.sql("SELECT /*+ REPARTITION(3, k) */ * FROM events").createOrReplaceTempView("clustered")
    val sql = topThree.replace("FROM events", "FROM clustered")
    Seq(true, false).foreach { adaptive =>
      withConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> adaptive) {
        val plan = ran(spark.sql(sql))
        assert(nodes(plan).collect { case p: PartialTopNExec => p }.isEmpty, plan)
        assert(nodes(plan).count(_.isInstanceOf[TopNExec]) == 1)
        assertSameAnswer(sql)
      }
    }
  }

  test("RemoveRedundantPartialTopN changes nothing the second time") {
    val rule = RemoveRedundantPartialTopN.preColumnarTransitions
    withConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> false) {
      Seq("FROM events", "FROM (SELECT /*+ REPARTITION(3, k) */ * FROM events)").foreach { from =>
        RuleCheck.applied(rule, executed(spark.sql(topThree.replace("FROM events", from))))
      }
    }
  }

  test("adaptive execution coalesces partitions above it and reuses equal exchanges") {
    val plan = ran(spark.sql(s"SELECT * FROM ($topThree) a JOIN ($topThree) b USING (k, rn)"))
    assert(
      nodes(plan).exists(_.nodeName.contains("ReusedExchange")) ||
        nodes(plan).exists(_.nodeName.contains("AQEShuffleRead")),
      plan)
    assertSameAnswer(s"SELECT * FROM ($topThree) a JOIN ($topThree) b USING (k, rn)")
  }

  test("is seen in subqueries, cached tables and unions, and by its own name in the plan") {
    assert(explain(s"SELECT (SELECT max(v) FROM ($topThree)) AS m").fired.length == 1)
    assert(explain(s"$topThree UNION ALL $topThree").fired.length == 2)
    spark.sql(s"CACHE TABLE kept AS $topThree")
    spark.sql(s"CACHE TABLE every AS ${topThree.replace("rn <= 3", "rn >= 3")}")
    try {
      assert(explain("SELECT * FROM kept").fired.length == 1)
      assert(declines("SELECT * FROM every") == Set("RANK.NO_UPPER_BOUND"))
    } finally spark.catalog.clearCache()
    assert(explain(topThree).plan.contains("TopN [k"))
  }
}

package io.firesteel.skew

import io.firesteel.testkit.DegenerateCalls
import org.apache.spark.sql.SparkSessionExtensions

/** Every function that the room computes, on degenerate arguments. */
class DegenerateArgumentsSuite extends SkewSuite {

  override protected def install(extensions: SparkSessionExtensions): Unit = {
    extensions.injectPreCBORule(_ => MergeGlobalAggregates)
    extensions.injectPreCBORule(_ => SortPercentiles)
    super.install(extensions)
  }

  /** Some rows, no rows, and one row without a value. */
  private val sources = Seq(
    "(SELECT CAST(id - 2 AS INT) AS a FROM range(0, 5, 1, 2))",
    "(SELECT CAST(id AS INT) AS a FROM range(0))",
    "(SELECT CAST(NULL AS INT) AS a FROM range(1))"
  )

  private val groupings = Seq("", "GROUP BY a % 2", "GROUP BY ROLLUP(a % 2)")

  private def assertSame(calls: Seq[String], rule: String): Unit =
    for (source <- sources; grouping <- groupings) {
      val sql = s"SELECT ${DegenerateCalls.columns(calls)} FROM $source $grouping"
      assertSameAnswer(sql)
      // Spark computes some aggregates of empty inputs during optimisation.
      if (source == sources.head) assert(fired(sql).contains(rule), sql)
    }

  test("percentiles") {
    assertSame(
      DegenerateCalls.percentiles("a").filterNot(_.contains("DISTINCT")),
      "SortPercentiles")
    DegenerateCalls.percentiles("a").filter(_.contains("DISTINCT")).foreach { call =>
      assertSameOutcome(s"SELECT $call FROM ${sources.head}")
    }
  }

  test("percentiles that Spark refuses or fails on") {
    spark.sparkContext.setLogLevel("OFF")
    DegenerateCalls.refusedPercentiles("a").foreach { call =>
      assertSameOutcome(s"SELECT $call FROM ${sources.head} GROUP BY a % 2")
    }
  }

  test("distinct values and sets") {
    withConf(SkewConf.PHASES.key -> "TWO_PHASE") {
      assertSame(DegenerateCalls.distinct("a"), "PlanDistinctAggregate")
      // Alone: only the argument decides.
      DegenerateCalls.distinct("a").foreach { call =>
        assertSameOutcome(s"SELECT $call FROM ${sources.head} GROUP BY a % 2")
      }
    }
  }

  test("together with distinct values") {
    val counts = Seq("count(DISTINCT a)", "count(DISTINCT a + 1)")
    assertSame(counts ++ DegenerateCalls.plain("a"), "PlanDistinctAggregate")
    assertSame(counts ++ DegenerateCalls.percentiles("a").take(6), "PlanDistinctAggregate")
  }

  test("merged globals") {
    val calls = DegenerateCalls.plain("a") ++ DegenerateCalls.percentiles("a") ++
      Seq("count(DISTINCT a, a)", "count(DISTINCT a, NULL)")
    for (source <- sources; condition <- Seq("a > 0", "a IS NULL", "a > 100")) {
      def branch(where: String) =
        s"(SELECT ${DegenerateCalls.columns(calls)} FROM $source WHERE $where)"
      val sql = s"SELECT * FROM ${branch(condition)} AS x CROSS JOIN ${branch("a <> 1")} AS y"
      assertSameAnswer(sql)
    }
  }
}

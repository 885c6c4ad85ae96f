package io.firesteel.skew

import io.firesteel.testkit.{DegenerateCalls, SinceSpark}
import org.apache.spark.sql.{functions, Encoder, Encoders, SparkSessionExtensions}
import org.apache.spark.sql.expressions.Aggregator

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

  test("arguments of functions that read some of their rows") {
    val source = "(SELECT id, id DIV 10 AS g FROM range(0, 2, 1, 1))"
    withConf("spark.sql.preserveCharVarcharTypeInfo" -> true) {
      Seq(
        "collect_set(id) FILTER (WHERE id >= 0), first(10 / (1 - id))",
        "median(id), first(CAST(repeat('a', 2 + 2 * CAST(id AS INT)) AS VARCHAR(3)))"
      ).foreach { calls =>
        val sql = s"SELECT /*+ TWO_PHASE */ g, $calls FROM $source GROUP BY g"
        assertSameOutcome(sql)
        assert(spark.sql(sql).collect().length == 1, sql)
      }
    }
  }

  test("a user's function whose first state is null, and sketches that are merged") {
    spark.udf.register("latest", functions.udaf(DegenerateArgumentsSuite.latest))
    Seq(
      "SELECT g, median(x), latest(x) FROM (SELECT id % 3 AS g, id AS x FROM range(0, 30, 1, 2)) GROUP BY g",
      "SELECT count(DISTINCT h), count(DISTINCT h + 1), latest(h) FROM (SELECT id % 3 AS h FROM range(30))"
    ).foreach(assertSameOutcome(_))
    if (SinceSpark.is("4.1")) {
      val sketches =
        "(SELECT id % 2 AS h, kll_sketch_agg_bigint(id, 400) AS sk FROM range(600) GROUP BY id % 2)"
      assertSameOutcome(
        "SELECT count(DISTINCT h), count(DISTINCT h + 1), " +
          s"kll_sketch_get_n_bigint(kll_merge_agg_bigint(sk)) FROM $sketches")
      assertSameOutcome(
        "SELECT g, median(x), approx_top_k_estimate(approx_top_k_combine(sk)) FROM (SELECT g, d, max(v) AS x, " +
          "approx_top_k_accumulate(v) AS sk FROM VALUES (1,1,10),(1,2,10),(2,1,20) AS t(g,d,v) GROUP BY g, d) GROUP BY g")
    }
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

object DegenerateArgumentsSuite {

  final case class Latest(value: Long)

  val latest: Aggregator[Long, Latest, Long] = new Aggregator[Long, Latest, Long] {
    // scalafix:off DisableSyntax.null
    override def zero: Latest = null
    // scalafix:on
    override def reduce(buffer: Latest, value: Long): Latest =
      Latest(Option(buffer).fold(value)(_.value.max(value)))
    override def merge(one: Latest, other: Latest): Latest =
      Latest((Option(one) ++ Option(other)).map(_.value).max)
    override def finish(buffer: Latest): Long = buffer.value
    override def bufferEncoder: Encoder[Latest] = Encoders.product[Latest]
    override def outputEncoder: Encoder[Long] = Encoders.scalaLong
  }
}

package io.firesteel.skew

import example.NativeAggregates
import org.apache.spark.sql.SparkSessionExtensions

/** Percentiles beside an extension that computes some of them. */
class NativePercentileSuite extends SkewSuite {

  override protected def install(extensions: SparkSessionExtensions): Unit = {
    extensions.injectColumnar(_ => NativeAggregates)
    super.install(extensions)
  }

  private val nativeCode = SkewDecline.NativePercentile("").code

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark.range(0, 200, 1, 3).selectExpr("id % 7 AS k", "pmod(xxhash64(id), 50) AS v", "id")
      .createOrReplaceTempView("t")
  }

  test("what the other extension computes natively is planned as the query wrote it") {
    for {
      adaptive <- Seq(true, false)
      call <- Seq("percentile(v, 0.5)", "median(v)", "percentile(v, 0.5) FILTER (WHERE id > 9)")
    } withConf("spark.sql.adaptive.enabled" -> adaptive) {
      val sql = s"SELECT k, $call, sum(v) FROM t GROUP BY k"
      assertSameAnswer(sql)
      assert(declines(sql) == Set(nativeCode) && fired(sql).isEmpty, sql)
      val told = explain(sql).declined.map(_.why.values)
      assert(told == Seq(Map("operator" -> "NativeAggregate")))
    }
  }

  test("what it leaves to Spark is ours") {
    Seq(
      "SELECT k, percentile(v, array(0.1, 0.9)) FROM t GROUP BY k",
      "SELECT k, percentile(v, array(0.1, 0.9)), percentile(v, 0.5) FROM t GROUP BY k").foreach {
      sql =>
        assertSameAnswer(sql)
        assert(fired(sql) == Seq(SortPercentiles.name) && declines(sql).isEmpty, sql)
    }
  }

  test("of two aggregates one is ours") {
    val sql = "SELECT percentile(m, 0.5) FROM (SELECT percentile(v, array(0.1))[0] AS m FROM t " +
      "GROUP BY k)"
    assertSameAnswer(sql)
    assert(fired(sql) == Seq(SortPercentiles.name) && declines(sql) == Set(nativeCode))
  }

  test("an extension that fails when it is asked") {
    NativeAggregates.fails = true
    try {
      val sql = "SELECT k, percentile(v, 0.5) FROM t GROUP BY k"
      val planned = spark.sql(sql).queryExecution.sparkPlan
      assert(planned.exists(_.isInstanceOf[PartialPercentilesExec]))
    } finally NativeAggregates.fails = false
  }
}

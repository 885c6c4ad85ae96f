package io.firesteel.rank

import example.NativeWindows
import io.firesteel.core.decide.Explain
import org.apache.spark.sql.SparkSessionExtensions

/** Top-N beside an extension that computes windows. */
class NativeWindowSuite extends RankSuite {

  override protected def install(extensions: SparkSessionExtensions): Unit = {
    extensions.injectColumnar(_ => NativeWindows)
    super.install(extensions)
  }

  private def top(groups: Int): String =
    s"""SELECT k, g, rn FROM (
       |  SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC, g) AS rn FROM (
       |    SELECT id % $groups AS g, first(id % 7) AS k, sum(pmod(xxhash64(id), 50)) AS v
       |    FROM range(0, ${2 * groups}, 1, 3) GROUP BY 1)
       |) WHERE rn <= 2""".stripMargin

  /** What is decided once adaptive execution has counted the groups. */
  private def decided(sql: String): Seq[String] = {
    assertSameAnswer(sql)
    val query = spark.sql(sql)
    query.collect()
    val explained = Explain.of(executed(query))
    explained.fired.map(_.rule) ++ explained.declined.map(_.why.code)
  }

  private val native = RankDecline.NativeWindow("", 0).code

  test("few rows, counted by adaptive execution, are the other extension's") {
    assert(decided(top(70)) == Seq(native))
  }

  test("rows that nobody has counted, or many, are ours") {
    withConf("spark.sql.adaptive.enabled" -> false) {
      assert(decided(top(70)) == Seq(PlanTopN.RULE))
    }
    assert(decided(top(20000)) == Seq(PlanTopN.RULE))
    spark.range(70).selectExpr("id % 7 AS k", "id % 3 AS v").createOrReplaceTempView("t")
    assert(decided("SELECT k, v FROM (SELECT *, rank() OVER (PARTITION BY k ORDER BY v) AS r " +
      "FROM t) WHERE r <= 2") == Seq(PlanTopN.RULE))
  }

  test("what the other extension leaves to Spark in part is ours") {
    NativeWindows.limitsToo = false
    try assert(decided(top(70)) == Seq(PlanTopN.RULE))
    finally NativeWindows.limitsToo = true
  }
}

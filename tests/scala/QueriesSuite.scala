package io.firesteel.tests

import io.firesteel.FiresteelExtensions
import io.firesteel.core.decide.Explain
import io.firesteel.testkit.{GoldenPlan, RoomSuite}
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.internal.SQLConf

/**
 * Every query file but those of streams: Spark's answer, the outcome its header expects, and its plan.
 *
 * `-- expect: PlanTopN` names a rule that fires, `-- expect: declines RANK.NO_UPPER_BOUND` a reason.
 */
class QueriesSuite extends RoomSuite {

  override protected def install(extensions: SparkSessionExtensions): Unit =
    new FiresteelExtensions().apply(extensions)

  override protected def settings: Map[String, String] =
    Map(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> "false")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark
      .range(0, 5000, 1, 3)
      .selectExpr(
        "CAST(id % 17 AS INT) AS k",
        "CAST(id % 5 AS STRING) AS g",
        "(id * 7919) % 5003 AS v",
        "IF(id % 11 = 0, NULL, CAST(id % 13 AS DOUBLE)) AS d",
        "id")
      .createOrReplaceTempView("events")
  }

  private val files = QueryFile.all.filter(_.room != "changelog")

  test("there are cases to run") {
    assert(files.nonEmpty)
  }

  files.foreach { file =>
    test(s"${file.room}: ${file.name}") {
      withConf(file.settings: _*) {
        val explained = Explain.of(executed(spark.sql(file.sql)))
        val outcomes =
          explained.fired.map(_.rule) ++ explained.declined.map(d => s"declines ${d.why.code}")
        assert(outcomes.distinct.sorted == file.expected.sorted)
        assertSameAnswer(file.sql)
        val ours = GoldenPlan.normalised(executed(spark.sql(file.sql)))
        val theirs =
          if (!file.hasSparksPlan) ""
          else {
            val plan = GoldenPlan.normalised(stock(executed(spark.sql(file.sql))))
            s"\n== Spark's ==\n$plan\n"
          }
        GoldenPlan.assertEquals(file.plan, s"${file.sql}\n\n== ours ==\n$ours\n$theirs")
      }
    }
  }
}

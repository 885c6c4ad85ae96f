package io.firesteel.extension

import io.firesteel.FiresteelExtensions
import io.firesteel.core.CoreConf
import io.firesteel.testkit.RoomSuite
import org.apache.spark.sql.{AnalysisException, SparkSessionExtensions}
import org.json4s.jackson.JsonMethods.parse

/** The functions for clients: those of SQL, and those that Python calls. */
class FunctionsSuite extends RoomSuite {

  override protected def install(extensions: SparkSessionExtensions): Unit =
    new FiresteelExtensions().apply(extensions)

  private val topTwo =
    "SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY id % 3 ORDER BY id) rn FROM range(9)) " +
      "WHERE rn <= 2"

  private def outcomes(sql: String): Seq[(String, String)] =
    spark
      .sql(s"SELECT outcome, coalesce(code, rule, '') FROM firesteel_explain('$sql')")
      .collect()
      .map(r => r.getString(0) -> r.getString(1))
      .toSeq

  test("firesteel_version says what is installed") {
    val row = spark.sql("SELECT * FROM firesteel_version()").head()
    assert(row.getAs[String]("version") == Version.firesteel)
    assert(row.getAs[String]("spark_version").startsWith(row.getAs[String]("supported_spark")))
    assert(row.getSeq[String](3) == Rooms.names)
  }

  test("firesteel_explain lists what fired and declined, and the plan last") {
    assert(outcomes(topTwo) == Seq("fired" -> "PlanTopN", "plan" -> ""))
    assert(outcomes(topTwo.replace("rn <= 2", "rn >= 2")) ==
      Seq("declined" -> "RANK.NO_UPPER_BOUND", "plan" -> ""))
    assert(outcomes("SELECT 1") == Seq("plan" -> ""))
  }

  test("firesteel_explain can be filtered and joined like any table") {
    val sql =
      s"SELECT message, values['n'] FROM firesteel_explain('$topTwo') WHERE outcome = 'fired'"
    assert(spark.sql(sql).head().getString(1) == "2")
  }

  test("firesteel_explain refuses what is not the text of a query, and reports its errors") {
    Seq(
      "firesteel_explain(1)",
      "firesteel_explain(NULL)",
      "firesteel_explain(CAST(NULL AS STRING))")
      .foreach { call =>
        val error = intercept[AnalysisException](spark.sql(s"SELECT * FROM $call"))
        assert(error.getCondition == "FIRESTEEL_EXPLAIN_NOT_TEXT", call)
      }
    val error = intercept[AnalysisException](spark.sql("SELECT * FROM firesteel_explain()"))
    assert(error.getCondition == "FIRESTEEL_WRONG_ARGUMENTS")
    assert(intercept[Exception](spark.sql("SELECT * FROM firesteel_explain('SELEC 1')").collect())
      .getMessage.contains("PARSE_SYNTAX_ERROR"))
  }

  test("firesteel_explain does not run the query or run commands") {
    spark.range(3).createOrReplaceTempView("stays")
    assert(outcomes("DROP VIEW stays").map(_._1) == Seq("plan"))
    assert(spark.table("stays").count() == 3)
    assert(outcomes("SET spark.firesteel.rank.enabled=false").map(_._1) == Seq("plan"))
    assert(fired(topTwo).nonEmpty)
  }

  test("PythonApi answers JSON of the plan as it ran") {
    val data = spark.sql(topTwo)
    data.collect()
    val json = parse(PythonApi.explain(data, "append"))
    assert(((json \ "fired")(0) \ "rule").values == "PlanTopN")
    assert((json \ "plan").values.toString.contains("isFinalPlan=true"))
  }

  test("everything off leaves Spark's plan, to the node") {
    withConf(CoreConf.ENABLED.key -> false) {
      val nodes = executed(spark.sql(topTwo)).collect { case p => p.getClass.getName }
      assert(nodes.forall(_.startsWith("org.apache.spark.")))
      assert(declines(topTwo) == Set("RANK.SWITCHED_OFF"))
    }
  }

  test(
    "firesteel_repartition_state refuses what is no folder and no number, and what has no state") {
    Seq("'/x', 'many'", "7, '/x'", "NULL, 3", "'/x', CAST(NULL AS INT)").foreach { arguments =>
      val call = s"SELECT * FROM firesteel_repartition_state($arguments)"
      val error = intercept[AnalysisException](spark.sql(call))
      assert(error.getCondition == "FIRESTEEL_REPARTITION_WRONG_ARGUMENTS", arguments)
    }
    val error = intercept[AnalysisException](
      spark.sql("SELECT * FROM firesteel_repartition_state('/nowhere', 3)"))
    assert(error.getCondition == "FIRESTEEL_REPARTITION_NO_CHECKPOINT")
  }
}

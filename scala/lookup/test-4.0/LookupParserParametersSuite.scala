package io.firesteel.lookup

/** Parameters, which Spark 4.0 binds in the plan and not in the text. */
class LookupParserParametersSuite extends LookupSuite {

  private def query(async: String): String =
    s"SELECT /*+ LOOKUP('table'='c', 'async'=$async) */ o.id FROM o JOIN t FOR SYSTEM_TIME AS OF " +
      "o.ts AS c ON o.id = c.id WHERE o.id > :least"

  test("a parameter inside the hint is an error that names the version") {
    spark.range(3).selectExpr("id", "now() AS ts").createOrReplaceTempView("o")
    spark.range(1, 9).createOrReplaceTempView("t")
    val error = intercept[org.apache.spark.sql.AnalysisException] {
      spark.sql(query(":async"), Map[String, Any]("async" -> "true", "least" -> 1))
    }
    assert(error.getCondition == "FIRESTEEL_LOOKUP_PARAMETER_IN_HINT")
    assert(error.getMessage.contains("Spark 4.0"))
  }
}

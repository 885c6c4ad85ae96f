package io.firesteel.lookup

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.functions.col

/** The error of a query that cannot have its lookup names the text, and what to write instead. */
class LookupRefusalsSuite extends LookupSuite {

  override def beforeAll(): Unit = {
    super.beforeAll()
    store(
      "typed",
      spark.range(9).selectExpr(
        "id",
        "CAST(id AS FLOAT) AS f",
        "CAST(id AS STRING) AS s",
        "CAST(id AS DECIMAL(10,2)) AS dec",
        "DATE '2024-01-01' AS day")
    )
    spark.range(9).selectExpr(
      "id AS n",
      "CAST(id AS DOUBLE) AS x",
      "CAST(id AS DECIMAL(12,4)) AS exact",
      "timestamp_seconds(id) AS at").createOrReplaceTempView("o")
  }

  private def refused(sql: String): AnalysisException =
    intercept[AnalysisException](spark.sql(sql).collect())

  for ((condition, cast) <- Seq(
      "c.id = o.x" -> "id = CAST(o.x AS BIGINT)",
      "o.x = c.f" -> "f = CAST(o.x AS FLOAT)",
      "c.s = o.n" -> "s = CAST(o.n AS STRING)",
      "c.dec = o.exact" -> "dec = CAST(o.exact AS DECIMAL(10,2))",
      "c.day = o.at" -> "day = CAST(o.at AS DATE)",
      "CAST(c.id AS STRING) = o.n + 1" -> "id = CAST((o.n + 1L) AS BIGINT)"
    )) {
    test(s"$condition is refused with $cast") {
      val error = refused(s"SELECT * FROM o JOIN mem.typed c ON $condition")
      assert(error.getCondition == "FIRESTEEL_LOOKUP_KEY_OF_ANOTHER_TYPE")
      assert(error.getMessage.contains(s"Cast the other side instead: $cast."), error.getMessage)
    }
  }

  test("what the refusal says to write can be looked up") {
    assert(
      spark.sql("SELECT * FROM o JOIN mem.typed c ON c.id = CAST(o.x AS BIGINT)").count() == 9)
  }

  test("with another key, a value of another type is compared afterwards") {
    assertJoins("SELECT o.n FROM o JOIN {c} c ON c.id = o.n AND c.f = o.x", "typed")
  }

  test("a hint without a table names the tables that it could be about") {
    for (hint <- Seq("LOOKUP", "LOOKUP('async'='true')", "LOOKUP(('async'='true'))")) {
      val error = refused(s"SELECT /*+ $hint */ * FROM o JOIN mem.typed c ON c.id = o.n")
      assert(error.getCondition == "FIRESTEEL_LOOKUP_HINT_WITHOUT_TABLE", hint)
      assert(error.getMessage.contains("'table'='name'"))
      assert(error.getMessage.contains("same query: c."))
    }
  }

  test("a hint over a DataFrame is about that DataFrame and names no table") {
    val joined =
      spark.table("o").join(spark.table("mem.typed").hint("LOOKUP"), col("n") === col("id"))
    assert(joined.count() == 9)
  }

  test("the error for a reload without its time names the option and a value") {
    for ((strategy, added) <- Seq(
        "PERIODIC" -> "'lookup.full-cache.periodic-reload.interval'='10 min'",
        "TIMED" -> "'lookup.full-cache.timed-reload.iso-time'='10:15'")) {
      val error = refused(
        s"SELECT /*+ LOOKUP('table'='p', 'lookup.full-cache.reload-strategy'='$strategy') */ * " +
          "FROM o JOIN typed p ON o.n = p.id")
      assert(error.getCondition == "FIRESTEEL_LOOKUP_MISSING_OPTION")
      assert(error.getMessage.contains(s"Add $added"), error.getMessage)
      assert(error.getMessage.contains(s"'lookup.full-cache.reload-strategy'='$strategy'"))
    }
  }
}

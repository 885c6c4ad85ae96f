package io.firesteel.json

import io.firesteel.core.decide.Explain

import org.apache.spark.sql.{Encoders, Row}
import org.apache.spark.sql.firesteel.lastBatchOf
import org.apache.spark.sql.firesteel.streaming.memoryStream

/** Micro-batches have scans, too. */
class JsonStreamSuite extends JsonSuite {

  private val documents = Seq(
    """{"k":"a","v":1,"at":"2026-01-01T00:00:00Z"}""",
    """{"k":"b","v":2.5}""",
    """{'k':'c','v':3}""",
    "no JSON",
    null,
    """{"v":7,"k":"a"} and more""")

  /** The rows of a stream, the rows of the same query in batch, and the rules of the last batch. */
  private def run(sql: String, mode: String): (Seq[Row], Seq[Row], Seq[String]) = {
    val input = memoryStream(spark)(Encoders.STRING)
    input.toDF().createOrReplaceTempView("docs")
    val query =
      spark.sql(sql).writeStream.format("memory").queryName("told").outputMode(mode).start()
    val rules =
      try {
        documents.grouped(4).foreach { some =>
          input.addData(some)
          query.processAllAvailable()
        }
        Explain.of(lastBatchOf(query).get.executedPlan).fired.map(_.rule).distinct
      } finally query.stop()
    val told = spark.table("told").collect().toSeq
    spark.createDataset(documents)(Encoders.STRING).createOrReplaceTempView("docs")
    (told, sparks(spark.sql(sql).collect().toSeq), rules)
  }

  private def check(sql: String, mode: String = "append"): Unit = {
    val (told, batch, rules) = run(sql, mode)
    assertSameRows(told, batch, sql)
    val _ = assert(rules == Seq("FuseJson"))
  }

  test("a projection and a filter") {
    check(
      """SELECT from_json(value, 'k STRING, v DOUBLE, at TIMESTAMP') s, get_json_object(value, '$.k') k
        |FROM docs WHERE get_json_object(value, '$.v') > '0' OR value IS NULL OR value LIKE 'no%'
        |""".stripMargin)
  }

  test("json_tuple") {
    check("SELECT k, v FROM docs LATERAL VIEW json_tuple(value, 'k', 'v') t AS k, v")
  }

  test("an aggregate") {
    check(
      """SELECT from_json(value, 'k STRING, v DOUBLE').k, sum(from_json(value, 'k STRING, v DOUBLE').v)
        |FROM docs GROUP BY 1""".stripMargin,
      "complete"
    )
  }
}

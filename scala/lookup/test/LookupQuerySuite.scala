package io.firesteel.lookup

import org.apache.spark.sql.Row
import org.scalatest.Assertion

/** One query in Flink's syntax, over views of a session. */
abstract class LookupQuerySuite extends ParserSuite {

  protected val query =
    "SELECT /*+ LOOKUP('table'='c', 'async'='true') */ o.id FROM o JOIN t FOR SYSTEM_TIME " +
      "AS OF o.ts AS c ON o.id = c.id"

  protected val lookup = Set("LOOKUP(table=c, async=true)", "as of o.ts")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.range(3).selectExpr("id", "now() AS ts").createOrReplaceTempView("o")
    spark.range(1, 9).createOrReplaceTempView("t")
  }

  /** The rows are those of a join, and the analyser saw the lookup's hint and time. */
  protected def assertLookup(sql: String, rows: Row*): Assertion = {
    seen = Nil
    val expected = if (rows.isEmpty) Seq(Row(1L), Row(2L)) else rows
    assertSameRows(spark.sql(sql).collect().toSeq, expected, sql)
    assert(lookup.subsetOf(seen.toSet), sql)
  }
}

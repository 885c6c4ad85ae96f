package io.firesteel.lookup

import org.apache.spark.sql.Row

/** Names in the body of a view are of the catalog and namespace in which it was made. */
class LookupViewSuite extends LookupSuite {

  private val now = "FOR SYSTEM_TIME AS OF current_timestamp()"

  override def beforeAll(): Unit = {
    super.beforeAll()
    store("customers", table("id BIGINT, name STRING", Row(1L, "one"), Row(2L, "two")))
    spark.sql("DROP VIEW customers") // so that the name stands for nothing outside of the catalog
    spark.sql("CREATE TABLE asked (id BIGINT) USING parquet")
    spark.sql("INSERT INTO asked VALUES (1), (3)")
    val asked = "spark_catalog.default.asked"
    spark.sql("USE mem")
    spark.sql("CREATE VIEW spark_catalog.default.enriched AS SELECT a.id, c.name " +
      s"FROM $asked a LEFT JOIN customers $now AS c ON a.id = c.id")
    spark.sql("CREATE TEMPORARY VIEW of_session AS SELECT a.id, c.name " +
      s"FROM $asked a LEFT JOIN customers $now AS c ON a.id = c.id")
    spark.sql("USE spark_catalog.default")
    spark.sql("CREATE VIEW nested AS SELECT * FROM enriched WHERE id > 0")
    spark.sql("CREATE DATABASE elsewhere")
    val _ = spark.sql("USE elsewhere")
  }

  override def afterAll(): Unit =
    try {
      spark.sql("USE spark_catalog.default")
      Seq("VIEW nested", "VIEW enriched", "TABLE asked", "DATABASE elsewhere").foreach(what =>
        spark.sql(s"DROP $what"))
    } finally super.afterAll()

  for (view <- Seq("default.enriched", "default.nested", "of_session")) {
    test(s"$view finds its dimension, whatever the session's namespace is") {
      assertSameRows(
        spark.table(view).collect().toSeq,
        Seq(Row(1L, "one"), Row(3L, null)),
        view)
    }
  }

  test("a temporary view stands for a name where the session's own are looked for") {
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW dimension AS SELECT * FROM mem.customers")
    val sql = s"SELECT a.id, c.name FROM default.asked a JOIN dimension $now AS c ON a.id = c.id"
    assertSameRows(spark.sql(sql).collect().toSeq, Seq(Row(1L, "one")), sql)
  }

  test("a name that stands for nothing is Spark's to refuse") {
    val thrown = intercept[org.apache.spark.sql.AnalysisException](
      spark.sql(s"SELECT * FROM default.asked a JOIN nowhere $now AS c ON a.id = c.id"))
    assert(thrown.getCondition == "TABLE_OR_VIEW_NOT_FOUND")
  }
}

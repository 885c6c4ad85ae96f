package io.firesteel.shuffle

import org.apache.spark.sql.connector.expressions.Expressions

/** Tables whose source reports how they lie are left to Spark before 4.2. */
class OlderStoredTablesSuite extends ShuffleSuite {

  override protected def settings: Map[String, String] = StoredCatalog.settings ++ Map(
    "spark.sql.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.sources.v2.bucketing.enabled" -> "true")

  override def beforeAll(): Unit = {
    super.beforeAll()
    val rows = spark.sql("SELECT id % 7 AS a, id % 4 AS b, id AS v FROM range(0, 300, 1, 3)")
    rows.createOrReplaceTempView("u")
    StoredCatalog.put("by_a", rows, Seq(Expressions.identity("a")), Seq("a"))
  }

  for (adaptive <- Seq(true, false)) {
    test(s"declines, and gives Spark's answer, adaptive $adaptive") {
      val sql = "SELECT * FROM stored.by_a AS l JOIN u AS r ON l.a = r.a AND l.b = r.b"
      withConf(ungated, "spark.sql.adaptive.enabled" -> adaptive) {
        assert(declines(sql) == Set("SHUFFLE.STORED_TABLE_NEEDS_SPARK_4_2"), explain(sql))
        assertSameAnswer(sql)
        withConf(ShuffleConf.ENABLED.key -> false) {
          assert(!declines(sql).exists(_.contains("SPARK")))
        }
      }
    }
  }
}

package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.ChangelogSuite
import org.apache.spark.sql.Row

/** Subqueries over tables above aggregates: what they said of a row is kept with it. */
class KeptSubqueriesSuite extends ChangelogSuite {

  private val schema = "k STRING, v INT"
  private val counts = "(SELECT k, count(*) AS c FROM {t} GROUP BY k)"
  private val batches = Seq(
    Seq(Row("a", 1), Row("b", 1), Row("b", 2), Row(null, 1)),
    Seq(Row("a", 2), Row("b", 3), Row("c", 1)),
    Seq(Row("a", 3), Row("c", 1)))

  private def withTables(body: => Any): Unit = {
    spark.range(2, 4).createOrReplaceTempView("some")
    spark.sql(
      "SELECT CAST(NULL AS BIGINT) AS id UNION ALL SELECT 2").createOrReplaceTempView("nulls")
    spark.sql("SELECT s FROM VALUES ('b') AS t(s)").createOrReplaceTempView("strings")
    val _ = body
  }

  Seq(
    s"SELECT k, c FROM $counts WHERE c > (SELECT min(id) FROM some) OR k IN (SELECT s FROM strings)",
    s"SELECT k, c FROM $counts WHERE c NOT IN (SELECT id FROM nulls) OR k NOT IN (SELECT s FROM strings)",
    s"SELECT k, c, c IN (SELECT id FROM some) AS i, (SELECT max(id) FROM some) AS m FROM $counts",
    s"SELECT k, c FROM $counts AS a WHERE NOT EXISTS (SELECT 1 FROM some WHERE id = a.c)",
    "SELECT k, count(*) AS c FROM {t} GROUP BY k HAVING c IN (SELECT id FROM some)",
    s"SELECT c IN (SELECT id FROM some) AS i, sum(c) FILTER (WHERE c NOT IN (SELECT 1)) AS s FROM $counts GROUP BY 1"
  ).foreach { sql =>
    test(s"as in the batch: $sql") {
      withTables(assertFollows(schema, sql, batches, restarts = Set(2)))
    }
  }

  test("a row goes as it came, whatever the table has since") {
    spark.sql("CREATE TABLE listed (id BIGINT) USING parquet")
    val sql = s"SELECT k, c, c IN (SELECT id FROM listed) AS is_listed FROM $counts"
    val fed = stream(schema, sql)
    try {
      fed.start()
      fed.feed(Seq(Row("a", 1)))
      spark.sql("INSERT INTO listed VALUES (1), (2)")
      fed.feed(Seq(Row("a", 1)))
      assert(fed.emitted.mkString(" ") == "[a,1,false,+I] [a,1,false,-U] [a,2,true,+U]")
    } finally {
      fed.stop()
      val _ = spark.sql("DROP TABLE listed")
    }
  }

  test("updates stay updates, by the key of the rows") {
    withTables {
      val sql = s"SELECT k, c, c IN (SELECT id FROM some) AS i FROM $counts"
      assert(assertUpserts(schema, sql, batches))
    }
  }

  test("what cannot be kept is refused in the user's words") {
    withTables {
      Seq(
        s"SELECT c, (SELECT max(id) FROM some WHERE id = a.c) AS m, row_kind() FROM $counts AS a" ->
          "(SELECT ...) is not supported in a changelog: its value differs for each row",
        s"SELECT x, row_kind() FROM (SELECT explode(array(c, 1)) AS x FROM $counts) WHERE x IN (SELECT id FROM some)" ->
          "(x IN (SELECT ...)) is not supported in a changelog: state cannot keep its values, because no columns identify the rows"
      ).foreach { case (sql, wanted) =>
        val text = refusal(schema, sql)
        assert(text.replaceAll("__auto_generated_subquery_name\\.", "").contains(wanted), text)
      }
    }
  }
}

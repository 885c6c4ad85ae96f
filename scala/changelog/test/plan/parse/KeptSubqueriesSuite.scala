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
    spark.sql(
      "SELECT * FROM VALUES (1L, 'a', 5), (1L, 'x', 3), (2L, 'a', 9), (2L, 'x', 1), (3L, 'b', 7) AS t(id, name, v)")
      .createOrReplaceTempView("priced")
    val _ = body
  }

  Seq(
    s"SELECT k, c FROM $counts WHERE c > (SELECT min(id) FROM some) OR k IN (SELECT s FROM strings)",
    s"SELECT k, c FROM $counts WHERE c NOT IN (SELECT id FROM nulls) OR k NOT IN (SELECT s FROM strings)",
    s"SELECT k, c, c IN (SELECT id FROM some) AS i, (SELECT max(id) FROM some) AS m FROM $counts",
    s"SELECT k, c FROM $counts AS a WHERE NOT EXISTS (SELECT 1 FROM some WHERE id = a.c)",
    "SELECT k, count(*) AS c FROM {t} GROUP BY k HAVING c IN (SELECT id FROM some)",
    s"SELECT c IN (SELECT id FROM some) AS i, sum(c) FILTER (WHERE c NOT IN (SELECT 1)) AS s FROM $counts GROUP BY 1",
    s"SELECT k, c, (SELECT max(v) FROM priced WHERE id = a.c) AS m, (SELECT count(*) FROM priced WHERE id = a.c AND name = a.k) AS n FROM $counts AS a",
    s"SELECT k, c FROM $counts AS a WHERE c < (SELECT sum(v) FROM priced WHERE id = a.c) AND k IN (SELECT s FROM strings)",
    s"SELECT k, c, (SELECT v FROM priced WHERE id = a.c AND name = 'x') AS one FROM $counts AS a",
    s"SELECT k, c, (SELECT max(v) FROM priced WHERE id = a.c) IN (SELECT v FROM priced WHERE name = 'x') AS i FROM $counts AS a",
    "SELECT k, count(*) AS c FROM {t} GROUP BY k HAVING count(*) < (SELECT max(v) FROM priced WHERE name = k)",
    s"SELECT sum((SELECT min(v) FROM priced WHERE id = a.c)) AS s, count(*) AS n FROM $counts AS a",
    s"SELECT (SELECT max(v) FROM priced WHERE id = a.c) AS m, count(*) AS n FROM $counts AS a GROUP BY (SELECT max(v) FROM priced WHERE id = a.c)",
    s"SELECT k, c FROM $counts WHERE NOT (c IN (SELECT id FROM nulls) AND k = 'a')",
    s"SELECT k, c FROM $counts WHERE NOT (c NOT IN (SELECT id FROM nulls) OR k = 'z')",
    s"SELECT k, c, NOT (c IN (SELECT id FROM nulls) AND k = 'a') AS i FROM $counts",
    "SELECT k, count(*) AS c FROM {t} GROUP BY k HAVING NOT (c IN (SELECT id FROM nulls) AND k = 'a')",
    s"SELECT k, c, (SELECT count_if(v > 3) FROM priced p WHERE p.id = a.c) AS m FROM $counts a",
    s"SELECT c, count(*) AS n, (SELECT max(id) FROM nulls) AS m FROM $counts GROUP BY c",
    s"SELECT c + (SELECT max(id) FROM nulls) AS g, sum(c + (SELECT max(id) FROM nulls)) AS s, (SELECT min(id) FROM some) AS o FROM $counts GROUP BY 1",
    "SELECT NOT (v > 1) AS small, count(*) AS n, (SELECT max(id) FROM some) AS m FROM {t} GROUP BY v > 1",
    s"SELECT NOT (c > 1 AND k = 'a') AS small, count(*) AS n, (SELECT max(id) FROM some) AS m FROM $counts GROUP BY c > 1 AND k = 'a'",
    // A condition beside the subquery says of which rows its value may be computed.
    s"SELECT k, c FROM $counts WHERE c <> 2 AND 10 / (c - 2) IN (SELECT -10 FROM some)",
    s"SELECT k, c FROM $counts a WHERE c <> 2 AND 0 < (SELECT count(*) FROM priced WHERE id = 1 - 1 / (a.c - 2))"
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
      val kept = s"SELECT k, c, c IN (SELECT id FROM some) AS i FROM $counts"
      val _ = assert(assertUpserts(schema, kept, batches))
      val joined = s"SELECT k, c, (SELECT max(v) FROM priced WHERE id = a.c) AS m FROM $counts AS a"
      assert(assertUpserts(schema, joined, batches))
    }
  }

  test("what differs each time is refused beside a subquery, too") {
    withTables {
      Seq("hour(current_timestamp()) < 25", "rand() < 2").foreach { varies =>
        val sql = s"SELECT k, c FROM $counts WHERE k IN (SELECT s FROM strings) AND $varies"
        val error = intercept[Exception](assertFollows(schema, sql, batches))
        assert(error.toString.contains("NOT_REPEATABLE"), error)
      }
    }
  }

  test("what cannot be kept is refused in the user's words") {
    withTables {
      Seq(
        s"SELECT x, (SELECT max(id) FROM some WHERE id = a.x) AS m, row_kind() FROM (SELECT explode(array(c, 1)) AS x FROM $counts) AS a" ->
          "(SELECT ...) is not supported in a changelog: state cannot keep its values, because no columns identify the rows",
        s"SELECT c, (SELECT max(id) FROM some WHERE id < a.c) AS m, row_kind() FROM $counts AS a" ->
          "(SELECT ...) is not supported in a changelog: it is correlated by more than equalities",
        s"SELECT x, row_kind() FROM (SELECT explode(array(c, 1)) AS x FROM $counts) WHERE x IN (SELECT id FROM some)" ->
          "(x IN (SELECT ...)) is not supported in a changelog: state cannot keep its values, because no columns identify the rows"
      ).foreach { case (sql, wanted) =>
        val text = refusal(schema, sql)
        assert(text.replaceAll("__auto_generated_subquery_name\\.", "").contains(wanted), text)
      }
    }
  }

  test("a second row in the place of a value is Spark's error") {
    withTables {
      val sql = s"SELECT c, (SELECT v FROM priced WHERE id = a.c) AS v FROM $counts AS a"
      val fed = stream(schema, sql)
      try {
        fed.start()
        val error = intercept[Exception](fed.feed(Seq(Row("a", 1))))
        val all = Iterator.iterate[Throwable](error)(_.getCause).takeWhile(_ != null)
        assert(all.exists(_.getMessage.contains("SCALAR_SUBQUERY_TOO_MANY_ROWS")), error)
      } finally fed.stop()
    }
  }
}

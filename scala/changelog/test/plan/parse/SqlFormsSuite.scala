package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

/** Forms of SQL that a batch query may have anywhere, and what they mean for rows that change. */
class SqlFormsSuite extends ChangelogSuite {

  private val schema = "k INT, v BIGINT"
  private val batches = Seq(
    Seq(Row(1, 2L), Row(1, 3L), Row(2, 5L), Row(null, 1L)),
    Seq(Row(3, 2L), Row(2, 1L), Row(null, 4L)),
    Nil,
    Seq(Row(1, 3L), Row(3, null), Row(4, 2L))
  )
  private val sums = "(SELECT k, sum(v) AS s FROM {t} GROUP BY k)"
  private val counts = "(SELECT k, count(*) AS n FROM {t} GROUP BY k)"

  private def follow(queries: String*): Unit = queries.zipWithIndex.foreach { case (sql, i) =>
    withProvider(providers(i % 2))(assertFollows(schema, sql, batches, restarts = Set(1, 3)))
  }

  test("ORDER BY below other operators") {
    follow(
      s"SELECT s, count(*) AS c FROM (SELECT * FROM $sums ORDER BY s) GROUP BY s",
      s"SELECT * FROM (SELECT * FROM $sums ORDER BY s) WHERE s > 2",
      s"SELECT a.k, s, n FROM (SELECT * FROM $sums ORDER BY k) a JOIN $counts b ON a.k = b.k",
      s"SELECT * FROM (SELECT k, s FROM $sums SORT BY s) WHERE k > 1"
    )
    Seq(
      s"SELECT first(s) AS f, row_kind() FROM (SELECT * FROM $sums ORDER BY s DESC)",
      s"SELECT *, row_kind() FROM (SELECT * FROM (SELECT * FROM $sums ORDER BY s) WHERE k > 1 LIMIT 2)",
      s"SELECT *, row_kind() FROM (SELECT /*+ COALESCE(1) */ * FROM (SELECT * FROM $sums ORDER BY s DESC) LIMIT 3)"
    ).foreach(sql => withClue(sql)(assert(refusal(schema, sql).contains("ORDER BY in a subquery"))))
  }

  test("two limits of one ordered view, whose order is not selected") {
    follow(
      s"WITH r AS (SELECT k, s FROM $sums ORDER BY s DESC, k) SELECT * FROM (SELECT k FROM r LIMIT 2) " +
        "UNION ALL SELECT * FROM (SELECT k FROM r LIMIT 3)")
  }

  test("the last ORDER BY of a view") {
    val fed = stream(schema, "SELECT k, s FROM ordered_sums")
    spark.sql(fed.reading(
      s"CREATE OR REPLACE TEMPORARY VIEW ordered_sums AS SELECT * FROM $sums ORDER BY s DESC, k"))
    try {
      fed.startAs("complete", "SELECT * FROM ordered_sums")
      fed.feed(batches.head)
      assert(fed.last == Seq(Row(1, 5L), Row(2, 5L), Row(null, 1L)))
    } finally fed.stop()
  }

  test("hints and calls that place rows in tasks") {
    follow(
      "SELECT /*+ COALESCE(1) */ k, sum(v) AS s FROM {t} GROUP BY k",
      "SELECT /*+ REPARTITION(3) */ k, sum(v) AS s FROM {t} GROUP BY k",
      s"SELECT /*+ REBALANCE */ s, count(*) AS c FROM $sums GROUP BY s",
      s"SELECT k, s FROM $sums DISTRIBUTE BY s"
    )
  }

  test("an equality of keys or two nulls") {
    Seq("JOIN", "LEFT JOIN", "FULL JOIN").foreach { join =>
      follow(
        s"SELECT a.k, s, b.k AS bk, n FROM $sums a $join $counts b ON a.k = b.k OR (a.k IS NULL AND b.k IS NULL)")
    }
    follow(
      s"SELECT a.k, s, n FROM $sums a, $counts b WHERE (b.k IS NULL AND a.k IS NULL) OR b.k = a.k")
  }

  test("subqueries in the condition of a join") {
    follow(
      s"SELECT a.k, s, n FROM $sums a JOIN $counts b ON a.k = b.k AND s IN (SELECT v FROM {t})",
      s"SELECT a.k, s, n FROM $sums a JOIN $counts b ON a.k = b.k AND s NOT IN (SELECT * FROM VALUES (5), (6))",
      "SELECT d.k, x FROM (SELECT DISTINCT k FROM {t}) d JOIN VALUES (1, 10), (2, 5) AS o(k, x) " +
        "ON d.k = o.k AND o.x NOT IN (SELECT v FROM {t})",
      "SELECT d.k, x FROM (SELECT DISTINCT k FROM {t}) d JOIN VALUES (1, 10), (2, 20) AS o(k, x) " +
        "ON d.k = o.k AND o.x IN (SELECT * FROM VALUES (10))",
      s"SELECT a.k, s, n FROM $sums a JOIN $counts b ON a.k = b.k AND EXISTS (SELECT 1 FROM {t} x WHERE x.v = n)"
    )
  }

  test("subqueries in the condition of an outer, semi or anti join") {
    follow(
      s"SELECT a.k, s, n FROM $sums a LEFT JOIN $counts b ON a.k = b.k AND s IN (SELECT v FROM {t})",
      s"SELECT b.k, s, n FROM $sums a RIGHT JOIN $counts b ON a.k = b.k OR EXISTS (SELECT 1 FROM {t} x WHERE x.v = n)",
      s"SELECT a.k, s, n FROM $sums a FULL JOIN $counts b ON a.k = b.k AND n NOT IN (SELECT v FROM {t} x WHERE x.k = b.k)",
      s"SELECT a.k, s FROM $sums a SEMI JOIN $counts b ON a.k = b.k AND n IN (SELECT v FROM {t})",
      s"SELECT a.k, s, n FROM $sums a LEFT JOIN $counts b ON a.k = b.k AND NOT (s IN (SELECT v FROM {t}) OR n = 2)",
      s"SELECT a.k, s, n FROM $sums a LEFT JOIN $counts b ON a.k = b.k AND s NOT IN (SELECT v FROM {t}) WHERE n > 0",
      s"SELECT a.k, s, n FROM $sums a LEFT JOIN $counts b ON a.k = b.k AND n NOT IN (SELECT v FROM {t})",
      s"SELECT a.k, s FROM $sums a ANTI JOIN $counts b ON a.k = b.k AND NOT EXISTS (SELECT 1 FROM {t} x WHERE x.v = s)"
    )
    Seq(
      "EXISTS (SELECT 1 FROM {t} x WHERE x.v = n + s)",
      "s IN (SELECT v FROM {t} x WHERE x.v = n)"
    ).foreach { of =>
      val both = s"SELECT *, row_kind() FROM $sums a LEFT JOIN $counts b ON a.k = b.k AND $of"
      assert(refusal(schema, both).contains("STREAMING_QUERY"))
    }
  }

  test("LEFT JOIN LATERAL of a function has a row for no element") {
    Seq(
      "SELECT k, x FROM {t} LEFT JOIN LATERAL explode(if(v > 1, array(v, 1), NULL)) AS e(x) ON true",
      "SELECT k, x, x IS NULL AS n FROM {t} LEFT JOIN LATERAL (SELECT explode(if(v > 1, array(1), array())) AS x) ON true",
      "SELECT k, x FROM {t} LEFT JOIN LATERAL explode(if(v > 1, array(v, 1), NULL)) AS e(x)",
      "SELECT x, count(*) AS c FROM {t} LEFT JOIN LATERAL (SELECT v + 1 AS x) ON true GROUP BY ALL"
    ).foreach(follow(_))
  }

  test("row_kind() is no key of GROUP BY ALL") {
    val fed = stream(schema, "SELECT k, count(*) AS c FROM {t} GROUP BY ALL")
    try {
      fed.startAs("append", "SELECT k, count(*) AS c, row_kind() AS op FROM {t} GROUP BY ALL")
      batches.foreach(fed.feed)
      assert(fed.difference.isEmpty, fed.difference)
    } finally fed.stop()
    val asked = "SELECT k, count(*) AS c FROM {t} GROUP BY k, row_kind()"
    assert(refusal(schema, asked).contains("MISPLACED_ROW_KIND"))
  }

  test("a value that is the first in the order of a derived table") {
    follow("SELECT k, v, (SELECT w FROM (SELECT v AS w, k AS l FROM {t} b WHERE b.k = a.k ORDER BY v DESC NULLS LAST) q LIMIT 1) " +
      "AS top FROM (SELECT k, v FROM {t}) a")
  }

  test("OVER, WITH and count_if in correlated subqueries") {
    follow(
      "SELECT k, (SELECT max(r) FROM (SELECT sum(v) OVER (PARTITION BY v % 2 ORDER BY v) AS r FROM {t} x WHERE x.k = a.k)) AS m FROM {t} a",
      "SELECT k, (WITH w AS (SELECT * FROM {t} x WHERE x.k = a.k) SELECT sum(v) FROM w) AS m FROM {t} a",
      "WITH o AS (SELECT * FROM {t}) SELECT k, v FROM {t} t WHERE k IN (SELECT k FROM o WHERE EXISTS " +
        "(WITH w AS (SELECT * FROM {t}) SELECT 1 FROM w WHERE w.v = o.v + 1))",
      "SELECT k, (SELECT count_if(x.v > 2) FROM {t} x WHERE x.k = a.v) AS m FROM {t} a"
    )
  }

  test("pipes and functions in SQL") {
    spark.sql("CREATE OR REPLACE TEMPORARY FUNCTION more_than(least INT) RETURNS TABLE (x INT) " +
      "RETURN SELECT id FROM range(5) WHERE id > least")
    follow(
      s"TABLE {t} |> NATURAL JOIN $counts |> WHERE n > 1",
      "TABLE {t} |> AGGREGATE sum(v) AS s GROUP BY k |> AGGREGATE count(*) AS c GROUP BY s",
      "SELECT k, count(*) AS n FROM {t} JOIN more_than(1) ON x = k GROUP BY k"
    )
  }

  test("a stream and a table in one set operation") {
    follow(
      "SELECT k, count(*) AS c FROM (SELECT k FROM {t} UNION ALL SELECT * FROM VALUES (1), (9)) GROUP BY k",
      s"SELECT k FROM $sums UNION SELECT * FROM VALUES (1), (9)",
      "SELECT k FROM {t} EXCEPT ALL SELECT * FROM VALUES (1), (1), (4)",
      "SELECT * FROM VALUES (1), (1), (1), (4) INTERSECT ALL SELECT k FROM {t}"
    )
    val told = refusal(
      schema,
      s"SELECT *, row_kind() FROM (SELECT k FROM $sums UNION ALL SELECT * FROM VALUES (1))")
    assert(told.contains("UNION of a stream and a table"))
  }

  test("in complete mode the result keeps the rows of a table") {
    assertWhole(
      schema,
      s"SELECT k FROM $sums UNION ALL SELECT * FROM VALUES (1), (9)",
      batches,
      restarts = Set(1, 3))
  }

  test("dropDuplicates above rows that change") {
    val fed = new ChangelogStream(spark, StructType.fromDDL(schema), "")
    spark.sql(fed.reading(s"SELECT * FROM $sums")).dropDuplicates("s").select("s")
      .createOrReplaceTempView("one_of_each")
    try {
      fed.startAs("append", "SELECT *, row_kind() AS op FROM one_of_each")
      val all = batches.filter(_.nonEmpty).map { rows =>
        fed.feed(rows)
        fed.last.map(_.toString).sorted
      }
      assert(all.head == Seq("[1,+I]", "[5,+I]"))
      // The sums are 5, 6, 5 and 2, then 8, 6, 5, 2 and 2.
      assert(all(1) == Seq("[1,-D]", "[2,+I]", "[6,+I]"))
      assert(all(2) == Seq("[8,+I]"))
    } finally fed.stop()
  }
}

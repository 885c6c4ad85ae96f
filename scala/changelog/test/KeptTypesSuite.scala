package io.firesteel.changelog

import org.apache.spark.sql.Row

/** Values whose bytes do not tell whether they are equal, or that have none, in states of every kind. */
class KeptTypesSuite extends ChangelogSuite {

  private val schema = "k STRING, v INT"
  private val batches = Seq(
    Seq(Row("a", 1), Row("A", 2), Row("b", 1), Row(null, 5)),
    Seq(Row("A", 3), Row("B", 1), Row("c", 1)),
    Seq(Row("C", 0), Row("a", 1), Row(null, 6)))

  /** Which of equal strings is shown is nobody's promise. */
  private val collated = "SELECT k COLLATE UTF8_LCASE AS ck, v FROM {t}"

  providers.foreach { provider =>
    test(s"groups and extremes of collated strings, ${provider.split('.').last}") {
      withProvider(provider) {
        assertFollows(
          schema,
          "SELECT lower(ck) AS k, n, lower(m) AS m, d FROM (SELECT ck, count(*) AS n, max(ck) AS m, " +
            s"count(DISTINCT ck) AS d FROM ($collated) GROUP BY ck)",
          batches,
          restarts = Set(1)
        )
        // Over rows that go.
        assertFollows(
          schema,
          "SELECT lower(ck) AS k, n, lower(m) AS m FROM (SELECT ck, count(*) AS n, min(ck) AS m FROM " +
            "(SELECT k COLLATE UTF8_LCASE AS ck, count(*) AS c FROM {t} GROUP BY k HAVING c < 2) GROUP BY ck)",
          batches,
          restarts = Set(2)
        )
      }
    }
  }

  test("the first string of a group shows it as long as it is there, and identifies it") {
    Seq(
      s"SELECT ck, count(DISTINCT v) AS n FROM ($collated) GROUP BY ck" ->
        "[a,2,+I] [b,1,+I] [null,1,+I] [a,3,+U]",
      s"SELECT DISTINCT ck FROM ($collated)" -> "[a,+I] [b,+I] [null,+I] [c,+I]"
    ).foreach { case (sql, wanted) =>
      val fed = stream(schema, sql)
      try {
        fed.startUpserts(Seq(0))
        fed.feed(batches.head)
        fed.feed(batches(1).take(2))
        if (sql.contains("DISTINCT ck")) fed.feed(batches(1).drop(2))
        assert(fed.emitted.map(_.toString).toSet == wanted.split(" ").toSet)
      } finally fed.stop()
    }
  }

  providers.foreach { provider =>
    test(s"maps, variants and collated strings are carried through a join of rows that only come, ${provider.split('.').last}") {
      val rows =
        "(SELECT k, k COLLATE UTF8_LCASE AS ck, v, map(k, v, 'z', 0) AS m, parse_json(concat('[', v, ']')) " +
          "AS j FROM {t} WHERE k IS NOT NULL AND k <> 'z')"
      val shown = "map_keys(l.m)[0] AS m, to_json(l.j) AS j, lower(l.ck) AS c"
      withProvider(provider) {
        Seq(
          s"SELECT $shown, r.v FROM $rows l LEFT JOIN $rows r ON l.v = r.v AND l.k <> r.k",
          s"SELECT $shown, r.m['z'] AS z FROM $rows l FULL JOIN $rows r ON lower(l.k) = lower(r.k) AND l.v < r.v"
        ).foreach(sql => assertFollows(schema, sql, batches, restarts = Set(1)))
        withConf("spark.firesteel.changelog.stateTtl" -> "1h") {
          assertFollows(
            schema,
            s"SELECT $shown, r.v FROM $rows l LEFT JOIN $rows r ON l.v = r.v AND l.k <> r.k",
            batches,
            restarts = Set(2))
        }
      }
    }
  }

  test(
    "maps, variants and collated strings are carried through a deduplication, also by collated keys") {
    def last(by: String) =
      s"SELECT lower(ck) AS k, m, j FROM (SELECT *, row_number() OVER (PARTITION BY $by ORDER BY v DESC, k) AS rn " +
        "FROM (SELECT k, k COLLATE UTF8_LCASE AS ck, v, map(k, v) AS m, parse_json(concat('[', v, ']')) AS j " +
        "FROM {t} WHERE k IS NOT NULL)) WHERE rn = 1"
    Seq("k", "ck").foreach(by => assertFollows(schema, last(by), batches, restarts = Set(1)))
  }

  test("columns that are always null are kept, in keys and beside them") {
    assertFollows(
      schema,
      "SELECT n, c, count(*) AS d, max(n) AS m FROM (SELECT k, NULL AS n, count(*) AS c FROM {t} GROUP BY k) " +
        "GROUP BY n, c",
      batches,
      restarts = Set(1)
    )
    assertFollows(
      schema,
      "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v) AS rn FROM (SELECT *, NULL AS n " +
        "FROM {t})) WHERE rn <= 2",
      batches
    )
  }
}

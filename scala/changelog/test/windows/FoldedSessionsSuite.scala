package io.firesteel.changelog.windows

import io.firesteel.changelog.ChangelogStream

import org.apache.spark.sql.Row

/** Aggregates by `SESSION`, which keep a group for each session, and not its rows. */
class FoldedSessionsSuite extends ClosedWindows {

  private def sessions(by: String): String =
    s"SESSION(TABLE({t})$by, DESCRIPTOR(ts), INTERVAL '4' SECOND)"

  private val ofKeys = sessions(" PARTITION BY (k)")
  private val calls = "count(*) AS n, count(v) AS c, sum(v) AS s, avg(v) AS a, min(v) AS l, " +
    "max(second(ts)) AS m, count_if(v > 2) AS i, round(stddev(v), 6) AS d"

  private val folded = Seq(
    s"SELECT window_start, window_end, k, $calls FROM $ofKeys GROUP BY window_start, window_end, k",
    // Without keys, without calls, with the last microsecond, an expression of the bounds, HAVING.
    s"SELECT window_end, count(*) AS n FROM ${sessions("")} GROUP BY window_start, window_end",
    s"SELECT window_end, k FROM $ofKeys GROUP BY k, window_end, window_start",
    s"SELECT window_time, window_end, k, sum(v) AS s FROM $ofKeys " +
      "GROUP BY window_start, window_end, window_time, k",
    "SELECT k, window_end, window_end - window_start AS length, max(v) AS m FROM " +
      s"$ofKeys GROUP BY k, window_start, window_end HAVING count(*) > 1",
    // Other names, computed values and keys.
    "SELECT e AS window_end, w, sum(x) AS s FROM (SELECT window_start AS b, window_end AS e, k AS w, " +
      s"v * 2 AS x, ts FROM $ofKeys) GROUP BY w, b, e",
    "SELECT window_end, coalesce(k, 'none') AS w, count(*) AS n FROM " +
      s"${sessions(" PARTITION BY (coalesce(k, 'none'))")} " +
      "GROUP BY coalesce(k, 'none'), window_start, window_end",
    // A ranking of the groups, and a join of them.
    "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY window_start, window_end ORDER BY n DESC, k) " +
      s"AS place FROM (SELECT window_start, window_end, k, count(*) AS n FROM $ofKeys " +
      "GROUP BY window_start, window_end, k)) WHERE place = 1"
  )

  private val kept = Seq(
    // Values that count once, the bounds of a session in a call, other groups than the keys, filters.
    s"SELECT window_end, k, count(DISTINCT v) AS n FROM $ofKeys GROUP BY window_start, window_end, k",
    s"SELECT window_end, k, sum(second(window_end)) AS n FROM $ofKeys " +
      "GROUP BY window_start, window_end, k",
    s"SELECT window_end, k, v, count(*) AS n FROM $ofKeys GROUP BY window_start, window_end, k, v",
    s"SELECT window_end, count(*) AS n FROM $ofKeys GROUP BY window_start, window_end",
    s"SELECT window_end, k, count(*) AS n FROM $ofKeys WHERE v > 2 GROUP BY window_start, window_end, k"
  )

  private def operators(sql: String, batches: Seq[Seq[Row]]): (String, Long) = {
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "4 seconds"))
    fed.startAs("append", s"SELECT *, '+I' AS op FROM ($sql)")
    try {
      batches.foreach(fed.feed)
      val last = fed.running.lastProgress.stateOperators.last
      (last.operatorName, last.numRowsTotal)
    } finally fed.stop()
  }

  test("each session answers once") {
    (folded ++ kept).zipWithIndex.foreach { case (sql, i) =>
      withProvider(providers(i % providers.size)) {
        closesOnce(sql, random(i + 1, batches = 3), if (i % 3 == 0) "append" else "update")
      }
    }
  }

  test("rows that fall between sessions join them, over several micro-batches") {
    providers.foreach(withProvider(_) {
      closesOnce(
        folded.head,
        Seq(
          Seq(row(50, "a", 1), row(60, "a", 2), row(70, "b", 3)),
          Seq(row(66, "a", 4), row(70, "a", 5)),
          Seq(row(56, "a", 6), row(53, "a", 7), row(63, "a", 8), row(67, "b", 9)),
          Seq(row(49, "a", 10), row(66, "b", 11)),
          Seq(
            row(90, "a", 12),
            row(86, "a", 13),
            row(82, "a", 14),
            row(78, "a", 15),
            row(74, "a", 16)),
          Seq(row(900, "c", 1))
        ),
        delay = "1 minute"
      )
    })
  }

  test("state has a group for each session, where that is enough") {
    val rows = Seq((0 until 100).map(i => row(i % 20, "ab".substring(i % 2).take(1), i)))
    folded.foreach { sql =>
      val (name, size) = operators(sql, rows)
      assert(name.startsWith("changelogAggregate") && size <= 4, s"$size entries of $name: $sql")
    }
    kept.foreach(sql => assert(operators(sql, rows)._1.startsWith("changelogSessionRows"), sql))
  }

  test("a late row is dropped, and makes no session longer") {
    val fed = new ChangelogStream(
      spark,
      schema,
      folded.head,
      watermark = Some("ts" -> "4 seconds"))
    fed.startAs("append", s"SELECT *, '+I' AS op FROM (${folded.head})")
    try {
      fed.feed(Seq(row(20, "a", 1), row(30, "b", 1)))
      fed.feed(Seq(row(27, "a", 2), row(30, "b", 1)))
      // The watermark is at 26: the session of the second 21 ended at 25.
      fed.feed(Seq(row(21, "a", 100), row(24, "a", 4), row(30, "b", 1)))
      fed.feed(Seq(row(900, "end", 1)))
      fed.feed(Seq(row(901, "end", 1)))
      val told = fed.emitted.filter(_.getAs[String]("k") == "a").map { r =>
        (r.getAs[Long]("n"), r.getAs[Long]("s"))
      }
      assert(told.sorted == Seq((1L, 1L), (2L, 6L)))
    } finally fed.stop()
  }

  test("sessions of sessions") {
    val inner = s"SELECT window_time, window_end, k, count(*) AS n FROM $ofKeys " +
      "GROUP BY window_start, window_end, window_time, k"
    closesOnce(
      "SELECT window_end, sum(n) AS n FROM SESSION(TABLE(SELECT window_time AS at, n FROM " +
        s"($inner)), DESCRIPTOR(at), INTERVAL '9' SECOND) GROUP BY window_start, window_end",
      random(3)
    )
  }
}

package io.firesteel.changelog.windows

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}

import java.sql.Timestamp

import scala.util.Random

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

/** `GROUP BY session_window(...)` in a changelog: sessions grow, merge, and take their parts back. */
class SessionWindowSuite extends ChangelogSuite {

  private val schema = "ts TIMESTAMP, k STRING, v INT"
  private val start = Timestamp.valueOf("2026-01-01 12:00:00").getTime

  private def row(second: Int, k: String, v: Integer) =
    Row(new Timestamp(start + second * 1000L), k, v)

  private def random(seed: Int): Seq[Seq[Row]] = {
    val random = new Random(seed)
    Seq.fill(6)(Seq.fill(random.nextInt(12)) {
      row(
        random.nextInt(120),
        if (random.nextInt(8) == 0) null else "ab".substring(random.nextInt(2)).take(1),
        if (random.nextInt(8) == 0) null else random.nextInt(5))
    })
  }

  private val queries = Seq(
    "SELECT session_window AS w, k, count(*) AS n, sum(v) AS s FROM {t} GROUP BY session_window(ts, '5 seconds'), k",
    "SELECT session_window.start AS s, session_window.end AS e, count(DISTINCT v) AS n FROM {t} " +
      "GROUP BY session_window(ts, '5 seconds')",
    "SELECT k, max(n) AS most FROM (SELECT k, count(*) AS n FROM {t} GROUP BY session_window(ts, " +
      "CASE WHEN v > 2 THEN '10 seconds' ELSE '3 seconds' END), k) GROUP BY k",
    "SELECT session_window.end AS e, n FROM (SELECT session_window, k, count(*) AS n FROM {t} " +
      "GROUP BY session_window(ts, '4 seconds'), k) WHERE n > 1"
  )

  queries.zipWithIndex.foreach { case (sql, i) =>
    test(s"sessions follow batch: ${sql.take(60)} $i") {
      (1 to 3).foreach(seed =>
        assertFollows(schema, sql, random(10 * i + seed), restarts = Set(2, 4)))
    }
  }

  private def timed(sql: String) = new ChangelogStream(
    spark,
    StructType.fromDDL(schema),
    sql,
    watermark = Some("ts" -> "3 seconds"))

  test("late rows are dropped, and closed sessions leave") {
    queries.take(2).zip(1 to 2).foreach { case (sql, seed) =>
      withProvider(providers(seed % providers.size)) {
        val random = new Random(seed)
        val fed = timed(sql)
        fed.start()
        try (0 until 7).foreach { batch =>
            val watermark = fed.lastWatermark
            val rows = Seq.fill(if (batch == 1) 700 else random.nextInt(12)) {
              row(
                batch * 20 + random.nextInt(40) - (if (random.nextInt(5) == 0) 40 else 0),
                "ab".substring(random.nextInt(2)).take(1),
                random.nextInt(5000)
              ) // several blocks of rows
            }
            fed.feedLate(rows) { row =>
              // As in Spark: a row is late when its own session is over.
              val end = new Timestamp(row.getTimestamp(0).getTime + 5000)
              watermark.exists(!end.after(_))
            }
            fed.difference.foreach(d => fail(s"at $watermark: ${d.take(1500)}"))
            if (batch == 3) fed.restart()
          }
        finally fed.stop()
        fed.start()
        try {
          Seq(1000, 1001).foreach(second => fed.feed(Seq(row(second, "a", 1), row(second, "b", 1))))
          val over =
            fed.running.lastProgress.stateOperators.find(_.operatorName.contains("Over")).get
          // By key and by nothing: a list of blocks for each key; the group's entry and its sets.
          val isKeyed = sql.contains(", k")
          assert(over.numRowsTotal == (if (isKeyed) 2 else 1))
          val groups =
            fed.running.lastProgress.stateOperators.find(_.operatorName.contains("Aggregate")).get
          assert(groups.numRowsTotal == (if (isKeyed) 4 else 3), "groups of closed sessions leave")
        } finally fed.stop()
      }
    }
  }

  test("a row that is not late joins a session that the watermark has passed") {
    Seq(
      "SELECT session_window.start AS s, session_window.end AS e, count(*) AS n FROM {t} " +
        "GROUP BY session_window(ts, '5 seconds')",
      "SELECT w.start AS s, w.end AS e, count(*) AS n FROM (SELECT v, session_window AS w FROM " +
        "(SELECT session_window(ts, '5 seconds'), v FROM {t})) GROUP BY w"
    ).foreach { sql =>
      val fed = timed(sql)
      fed.start()
      try Seq(Seq(7, 15), Seq(16), Seq(10), Seq(30), Seq(22)).zipWithIndex.foreach {
          case (seconds, at) =>
            if (at == 2) fed.restart()
            fed.feed(seconds.map(row(_, "a", 1)))
            fed.difference.foreach(d => fail(s"$sql: $d"))
        }
      finally fed.stop()
    }
  }

  test("a row that joins two sessions takes both back") {
    val sql =
      "SELECT session_window.start AS s, count(*) AS n FROM {t} GROUP BY session_window(ts, '5 seconds')"
    assertFollows(
      schema,
      sql,
      Seq(
        Seq(row(0, "a", 1), row(8, "a", 1)),
        Seq(row(4, "a", 1)),
        Seq(row(13, "a", 1), row(19, "a", 1))))
  }
}

package io.firesteel.changelog.flink

import io.firesteel.changelog.windows.ClosedWindows

import org.apache.spark.sql.Row

/**
 * The forms of Flink's tests of window functions: `WindowAggregateITCase`, `WindowJoinITCase`,
 * `WindowRankITCase`, `WindowDeduplicateITCase`.
 */
class FlinkWindowsSuite extends ClosedWindows {

  private def call(function: String, lengths: String*) =
    (s"$function(TABLE({t}), DESCRIPTOR(ts)" +: lengths.map(its => s"INTERVAL $its SECOND"))
      .mkString("", ", ", ")")

  private val tumble = call("TUMBLE", "'10'")
  private val cumulate = call("CUMULATE", "'5'", "'15'")
  private val session =
    "SESSION(TABLE({t}) PARTITION BY (k), DESCRIPTOR(ts), INTERVAL '4' SECOND)"

  private val all =
    "count(*) AS n, sum(v) AS s, max(v) AS m, min(v) AS l, count(DISTINCT input) AS d"

  private def side(input: String) =
    s"""(SELECT k, window_start, window_end, count(DISTINCT v) AS d FROM $tumble
       |WHERE input = '$input' GROUP BY k, window_start, window_end)""".stripMargin

  private def both(join: String, key: String, columns: String) =
    s"""SELECT $columns, coalesce(l.window_end, r.window_end) AS window_end
       |FROM ${side("l")} l $join JOIN ${side("r")} r
       |ON l.window_start = r.window_start AND l.window_end = r.window_end AND $key""".stripMargin

  private val sameWindow = "l.window_start = r.window_start AND l.window_end = r.window_end"

  private val cases = Seq(
    "TUMBLE with an offset before zero" ->
      s"SELECT k, window_start, window_end, $all FROM ${call("TUMBLE", "'10'", "'-3'")} GROUP BY 1, 2, 3",
    "HOP with an offset before zero" ->
      s"SELECT k, window_start, window_end, $all FROM ${call("HOP", "'5'", "'10'", "'-3'")} GROUP BY 1, 2, 3",
    "CUMULATE with an offset before zero" ->
      s"SELECT k, window_start, window_end, $all FROM ${call("CUMULATE", "'5'", "'15'", "'-3'")} GROUP BY 1, 2, 3",
    "CUBE of CUMULATE" ->
      s"SELECT grouping(k) AS g, k, window_start, window_end, $all FROM $cumulate GROUP BY CUBE(k), window_start, window_end",
    "columns named like those of the window" ->
      s"SELECT window_end, window_time, min(ts) AS start, max(ts) AS `end` FROM $tumble GROUP BY window_start, window_end, window_time",
    "a condition on a session's own start" ->
      s"SELECT k, window_start, window_end, $all FROM (SELECT * FROM $session WHERE window_start > '2000-01-01 00:00:00') GROUP BY 1, 2, 3",
    "windows of the grouping sets of windows" ->
      s"""SELECT g, k, window_start, window_end, sum(n) AS n, sum(s) AS s, max(m) AS m, sum(d) AS d
         |FROM TUMBLE(TABLE(SELECT grouping(k) AS g, k, window_time AS at, $all FROM $tumble
         |GROUP BY GROUPING SETS ((k), ()), window_start, window_end, window_time), DESCRIPTOR(at),
         |INTERVAL '20' SECOND) GROUP BY g, k, window_start, window_end""".stripMargin,
    "IN within a window" ->
      s"SELECT * FROM ${side("l")} l WHERE l.k IN (SELECT k FROM ${side("r")} r WHERE $sameWindow)",
    "EXISTS of a window function" ->
      s"""SELECT l.v, l.k, l.window_end FROM (SELECT * FROM $tumble WHERE input = 'l') l WHERE EXISTS
         |(SELECT * FROM $tumble r WHERE input = 'r' AND $sameWindow AND l.k = r.k)""".stripMargin,
    "NOT IN within a window" ->
      s"""SELECT l.v, l.k, l.window_end FROM (SELECT * FROM $tumble WHERE input = 'l') l WHERE l.k NOT IN
         |(SELECT k FROM $tumble r WHERE input = 'r' AND v > 1 AND $sameWindow) AND l.v IS NOT NULL""".stripMargin,
    "NOT EXISTS within a window" ->
      s"SELECT * FROM ${side("l")} l WHERE NOT EXISTS (SELECT * FROM ${side("r")} r WHERE $sameWindow AND l.k = r.k)",
    "FULL JOIN of windows, where nulls are equal" ->
      both("FULL", "l.k IS NOT DISTINCT FROM r.k", "l.k, l.d, r.k AS rk, r.d AS rd"),
    "RIGHT JOIN of windows" -> both("RIGHT", "l.k = r.k", "l.k, l.d, r.k AS rk, r.d AS rd"),
    "places after the first of groups of CUMULATE" ->
      s"""SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY window_start, window_end ORDER BY s DESC, k)
         |AS place FROM (SELECT k, window_start, window_end, $all FROM $cumulate GROUP BY 1, 2, 3))
         |WHERE place > 1 AND place <= 2""".stripMargin,
    "the last row of each window of CUMULATE" ->
      s"""SELECT v, k, window_start, window_end FROM (SELECT *, row_number() OVER (PARTITION BY window_start,
         |window_end, k ORDER BY ts DESC, v, input) AS place FROM $cumulate) WHERE place <= 1""".stripMargin
  )

  cases.zipWithIndex.foreach { case ((name, sql), i) =>
    test(name) {
      val mode = if (i % 2 == 0) "append" else "update"
      withProvider(providers(i / 2 % 2))(closesOnce(sql, random(i, batches = 3), mode))
    }
  }

  test("windows whose columns are not selected") {
    // A condition on `k` Spark would ask below the watermark.
    val sql =
      s"SELECT $all FROM $tumble GROUP BY window_start, window_end HAVING ifnull(max(k), '') <> 'end'"
    Seq("append", "update").foreach { mode =>
      val fed = watermarked(sql)
      try {
        fed.startAs(mode, s"SELECT *, '+I' AS op FROM ($sql)")
        // A watermark closes windows in the next micro-batch.
        (random(3, batches = 3) :+ Seq(row(2000, "end", 0))).foreach(fed.feed)
        def texts(rows: Seq[Row]) = rows.map(_.toString).sorted
        val _ = assert(
          texts(fed.emitted.map(r => Row.fromSeq(r.toSeq.init)).toSeq) == texts(fed.answer()))
      } finally fed.stop()
    }
  }
}

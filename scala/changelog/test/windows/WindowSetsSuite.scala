package io.firesteel.changelog.windows

import io.firesteel.changelog.ChangelogStream
import io.firesteel.changelog.plan.{ClosedWindows => AnsweredOnce}
import io.firesteel.changelog.plan.parse.ParseQuery
import io.firesteel.changelog.state.BegunPlan

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.firesteel.executionOf

/** Grouping sets of windows, and unions of them, which also answer once. */
class WindowSetsSuite extends ClosedWindows {

  private val tumble = "TUMBLE(TABLE({t}), DESCRIPTOR(ts), INTERVAL '10' SECOND)"
  private val hop = "HOP(TABLE({t}), DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)"
  private val session = "SESSION(TABLE({t}) PARTITION BY (k), DESCRIPTOR(ts), INTERVAL '4' SECOND)"

  test("GROUPING SETS, ROLLUP and CUBE within a window") {
    Seq(
      s"SELECT window_end, k, input, count(*) AS n, sum(v) AS s, grouping_id() AS g FROM $tumble " +
        "GROUP BY window_start, window_end, ROLLUP(k, input)",
      s"SELECT window_start, window_end, k, count(*) AS n FROM $hop " +
        "GROUP BY GROUPING SETS ((window_start, window_end, k), (window_start, window_end))",
      s"SELECT window_end, k, v, count(DISTINCT input) AS n FROM $tumble " +
        "GROUP BY window_start, window_end, CUBE(k, v)",
      s"SELECT window_end, k, count(*) AS n FROM $session " +
        "GROUP BY GROUPING SETS ((window_start, window_end, k), (window_start, window_end))"
    ).zipWithIndex.foreach { case (sql, i) =>
      withProvider(providers(i % 2)) {
        closesOnce(sql, random(20 + i, batches = 3), if (i < 2) "update" else "append")
      }
    }
  }

  test("a join leaves a union of groups unread in most partitions, and their state goes on") {
    def groups(where: String, also: String = "") =
      s"SELECT window_start, window_end, k, count(*) AS n$also FROM $tumble WHERE $where GROUP BY 1, 2, 3"
    val union =
      s"${groups("input = 'l'", ", 'l' AS o")} UNION ALL ${groups("input = 'r'", ", 'r' AS o")}"
    withConf("spark.sql.shuffle.partitions" -> "5") {
      Seq("JOIN", "LEFT JOIN").foreach { join =>
        closesOnce(
          s"SELECT c.window_end, c.k, c.n, u.n AS un, u.o FROM (${groups("k = 'a'")}) c $join ($union) u " +
            "ON c.window_start = u.window_start AND c.window_end = u.window_end AND c.k = u.k",
          random(37, batches = 4),
          "update"
        )
      }
    }
  }

  test("a union of windows: of rows, and of groups") {
    def of(input: String) =
      s"SELECT window_start, window_end, k, v FROM $tumble WHERE input = '$input'"
    def groups(rows: String) =
      s"SELECT window_start, window_end, k, count(*) AS n FROM ($rows) GROUP BY 1, 2, 3"
    Seq(
      groups(s"${of("l")} UNION ALL ${of("r")}"),
      "SELECT window_end, max(n) AS m FROM " +
        s"(${groups(of("l"))} UNION ALL ${groups(of("r"))}) GROUP BY window_start, window_end",
      "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY window_start, window_end ORDER BY v DESC, k) " +
        s"AS place FROM (${of("l")} UNION ALL ${of("r")})) WHERE place < 3",
      groups(s"SELECT window_start, window_end, k, v FROM $tumble UNION ALL " +
        s"SELECT window_start, window_end, k, v FROM $hop"),
      // Columns that nothing above reads.
      s"SELECT window_end, n FROM (${groups(of("l"))} UNION ALL ${groups(s"SELECT * FROM $hop")})"
    ).zipWithIndex.foreach { case (sql, i) =>
      closesOnce(sql, random(30 + i, batches = 3), "update")
    }
  }

  test("windows below hints, subqueries over tables, LATERAL and joins in WHERE") {
    val same = "l.window_start = r.window_start AND l.window_end = r.window_end AND l.k = r.k"
    def groups(rows: String, of: String) =
      s"(SELECT window_start, window_end, k, count(*) AS n, '$of' AS w FROM $rows GROUP BY 1, 2, 3)"
    def first(rows: String) =
      "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY window_start, window_end " +
        s"ORDER BY n DESC, k, w) AS place FROM ($rows)) WHERE place < 3"
    val (l, r) = (groups(tumble, "l"), groups(s"(SELECT * FROM $tumble WHERE v > 1)", "r"))
    Seq(
      s"SELECT /*+ SHUFFLE_HASH(r) */ l.window_end, l.k, l.v, r.v AS rv FROM $tumble l LEFT JOIN $tumble r ON $same AND l.v < r.v",
      s"SELECT /*+ STATE_TTL('l=1d') */ l.window_end, l.k, l.v, r.v AS rv FROM $tumble l JOIN $tumble r ON $same AND l.v < r.v",
      s"SELECT window_end, count(*) AS n FROM $tumble WHERE k IN (SELECT * FROM VALUES ('a'), ('b')) GROUP BY window_start, window_end",
      s"SELECT window_end, k, n FROM $l WHERE n > (SELECT min(c) FROM VALUES (0), (3) AS x(c))",
      first(s"SELECT l.*, r.n AS rn FROM $l l, $r r WHERE $same"),
      s"SELECT window_end, count(*) AS n FROM (SELECT /*+ REPARTITION(3) */ * FROM $tumble) GROUP BY window_start, window_end",
      s"SELECT window_end, k, count(*) AS n FROM (SELECT * FROM $tumble ORDER BY v) GROUP BY window_start, window_end, k",
      s"SELECT window_end, k, n FROM (SELECT /*+ STATE_TTL('1d') */ window_start, window_end, k, count(*) AS n FROM $tumble GROUP BY 1, 2, 3)",
      s"SELECT window_end, tag, count(*) AS n FROM $tumble t, LATERAL explode(array(k, input)) AS x(tag) GROUP BY window_start, window_end, tag",
      first(s"SELECT * FROM $l UNION ALL SELECT * FROM ${groups(hop, "h")}")
    ).zipWithIndex.foreach { case (sql, i) =>
      closesOnce(sql, random(40 + i, batches = 3), if (i % 2 == 0) "append" else "update")
    }
  }

  test("an order below a function of it is refused, as below other groups") {
    val sql =
      s"SELECT window_end, first(v) AS f FROM (SELECT * FROM $tumble ORDER BY v) GROUP BY window_start, window_end"
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "4 seconds"))
    val refused = intercept[AnalysisException](fed.startAs("append", sql))
    assert(refused.getMessage.contains("ORDER BY"))
  }

  test("a checkpoint of an earlier version keeps windows as columns") {
    val fed = new ChangelogStream(spark, schema, "", watermark = Some("ts" -> "4 seconds"))
    def isClosed(sql: String, version: Int): Boolean = {
      val begun = BegunPlan.latest.copy(version = version)
      val query = executionOf(spark.sql(fed.reading(sql))).analyzed
      new ParseQuery(updateBefore = true, None, begun).read(query).isInstanceOf[AnsweredOnce]
    }
    Seq(
      s"SELECT window_end, count(*) AS n FROM $tumble WHERE k IN (SELECT * FROM VALUES ('a')) GROUP BY window_start, window_end",
      s"SELECT l.k FROM $tumble l, $tumble r WHERE l.window_start = r.window_start AND l.window_end = r.window_end",
      "SELECT window_end, count(*) AS n FROM TUMBLE(TABLE(SELECT * FROM from_changelog(TABLE({t}), op => 'input')), " +
        "DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end"
    ).foreach(sql => assert(isClosed(sql, 13) && !isClosed(sql, 12), sql))
    val grids = "SELECT window_end, count(*) AS n FROM (SELECT window_start, window_end FROM " +
      s"$tumble UNION ALL SELECT window_start, window_end FROM $hop) GROUP BY window_start, window_end"
    assert(isClosed(grids, 21) && !isClosed(grids, 20))
  }

  test("without the window in each set the groups change") {
    val sql = s"SELECT window_end, k, count(*) AS n FROM $tumble " +
      "GROUP BY GROUPING SETS ((window_start, window_end, k), (k))"
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "4 seconds"))
    fed.start()
    try random(40, batches = 3).foreach { rows =>
        fed.feed(rows)
        assert(fed.difference.isEmpty)
      }
    finally fed.stop()
  }
}

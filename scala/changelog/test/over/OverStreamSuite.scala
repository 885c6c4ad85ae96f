package io.firesteel.changelog.over

import io.firesteel.changelog.{ChangelogSuite, ConsumedTable}
import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.testkit.SinceSpark
import org.apache.spark.sql.Row
import org.apache.spark.sql.internal.SQLConf

/** Functions with OVER, over rows that come and over rows that change. */
class OverStreamSuite extends ChangelogSuite {

  private val schema = "k STRING, v INT, id INT"

  private val batches = Seq(
    Seq(Row("a", 5, 1), Row("a", 3, 2), Row("b", null, 3), Row("a", 1, 9)),
    Seq(Row("a", 4, 4), Row("a", 9, 5), Row(null, 1, 6), Row(null, 1, 7)),
    Nil,
    Seq(Row("b", 2, 8), Row("b", 2, 8), Row("a", 9, 0), Row("a", null, 3)),
    Seq(Row("a", -3, 12), Row("c", 9, 0), Row("a", 2, 12))
  )

  private def over(functions: String, order: String, frame: String = ""): String =
    s"SELECT k, v, id, ${functions.split(";").map(f => s"$f OVER w").mkString(", ")} FROM {t} " +
      s"WINDOW w AS (PARTITION BY k ORDER BY $order $frame)"

  private val sums = "sum(v);count(*);avg(v);min(v);max(id)"

  providers.foreach { provider =>
    test(s"sums over rows before, ${provider.split('.').last}") {
      withProvider(provider) {
        Seq("ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", "").foreach { frame =>
          assertFollows(schema, over(sums, "v, id", frame), batches, restarts = Set(1, 3))
        }
      }
    }
  }

  test("a time that the optimizer alone computes is a default") {
    assertFollows(
      schema,
      "SELECT id, lag(timestamp_seconds(v), 1, CAST('epoch' AS TIMESTAMP)) OVER (PARTITION BY k ORDER BY id) AS p FROM {t}",
      batches)
  }

  test("frames of rows") {
    Seq(
      "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
      "ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING",
      "ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING",
      "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
      "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
      "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
    ).foreach { frame =>
      assertFollows(schema, over(sums, "v DESC, id", frame), batches)
    }
  }

  test("frames of values, up and down, with nulls first and last") {
    Seq(
      "RANGE BETWEEN 2 PRECEDING AND CURRENT ROW",
      "RANGE BETWEEN CURRENT ROW AND 3 FOLLOWING",
      "RANGE BETWEEN 3 PRECEDING AND 1 PRECEDING",
      "RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING",
      "RANGE BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING",
      "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"
    ).foreach { frame =>
      Seq("v NULLS LAST", "v DESC").foreach { order =>
        assertFollows(schema, over("sum(id);count(*)", order, frame), batches)
      }
    }
  }

  test("a frame whose end is no value of the type") {
    val rows = Seq(
      Seq(Row("a", 0, 1), Row("a", 30, 2)),
      Seq(Row("a", 50, 3)),
      Seq(Row("a", 100, 4), Row("a", 20, 5)),
      Seq(Row("a", 99, 6)))
    Seq("true", "false").foreach { ansi =>
      withConf(SQLConf.ANSI_ENABLED.key -> ansi) {
        Seq("CURRENT ROW AND 100 FOLLOWING", "UNBOUNDED PRECEDING AND 120 FOLLOWING").foreach {
          frame =>
            assertFollows(
              "k STRING, v TINYINT, id INT",
              over("sum(id)", "v", s"RANGE BETWEEN $frame"),
              rows.map(_.map(row => Row(row(0), row.getInt(1).toByte, row(2)))))
        }
      }
    }
    withConf(SQLConf.ANSI_ENABLED.key -> "false") {
      assertFollows(
        "k STRING, v TINYINT, id INT",
        over("sum(id)", "v", "RANGE BETWEEN CURRENT ROW AND 10 FOLLOWING"),
        Seq(
          Seq(Row("a", 120.toByte, 1)),
          Seq(Row("a", 112.toByte, 2)),
          Seq(Row("a", 115.toByte, 3)))
      )
    }
  }

  test("sums of floats, with Spark's tree of segments set") {
    val fed = stream(
      "id DOUBLE, d DOUBLE",
      "SELECT id, CAST(sum(d) OVER (ORDER BY id ROWS BETWEEN 20 PRECEDING AND CURRENT ROW) AS DECIMAL(38, 20)) AS s FROM {t}")
    try {
      withConf(
        "spark.sql.window.segmentTree.enabled" -> "true",
        "spark.sql.window.segmentTree.minPartitionRows" -> "1")(fed.start())
      Seq((1 to 100).map(i => Row(i.toDouble, i * 0.1)), Seq(Row(60.5, 0.7)), Seq(Row(80.5, 0.3)))
        .foreach { rows =>
          fed.feed(rows)
          assert(fed.difference.isEmpty)
        }
    } finally fed.stop()
  }

  test("frames of values whose lengths differ: months, days where clocks change") {
    def at(text: String, id: Int) = Row("a", java.sql.Timestamp.valueOf(text), id)
    val months = Seq(
      Seq(
        at("2026-02-28 09:30:00", 1),
        at("2026-03-31 09:00:00", 10),
        at("2026-01-30 10:00:00", 2)),
      Seq(at("2026-03-30 10:00:00", 100), at("2026-01-31 09:00:00", 20)),
      Seq(at("2026-01-29 10:00:00", 200), at("2026-03-01 00:00:00", 400))
    )
    val days = Seq(
      Seq(
        at("2026-03-08 03:20:00", 1),
        at("2026-03-09 03:10:00", 10),
        at("2026-03-07 03:10:00", 2)),
      Seq(at("2026-03-09 02:30:00", 100), at("2026-03-07 02:30:00", 20)),
      Seq(at("2026-03-08 01:59:00", 200), at("2026-03-10 03:10:00", 400))
    )
    for {
      (length, fed) <- Seq("'1' MONTH" -> months, "'1' DAY" -> days)
      frame <- Seq(
        "INTERVAL {} PRECEDING AND CURRENT ROW",
        "CURRENT ROW AND INTERVAL {} FOLLOWING",
        "INTERVAL {} PRECEDING AND INTERVAL {} FOLLOWING")
      order <- Seq("ts", "ts DESC")
    } {
      val range = frame.replace("{}", length)
      withConf(SQLConf.SESSION_LOCAL_TIMEZONE.key -> "America/Los_Angeles") {
        assertFollows(
          "k STRING, ts TIMESTAMP, id INT",
          s"SELECT k, id, sum(id) OVER (PARTITION BY k ORDER BY $order RANGE BETWEEN $range) AS s FROM {t}",
          fed)
      }
    }
  }

  test("frames of months over a column of months") {
    val ages = "(SELECT *, CAST(id AS INTERVAL MONTH) AS age FROM {t})"
    Seq(
      "INTERVAL '2' MONTH PRECEDING AND CURRENT ROW",
      "CURRENT ROW AND INTERVAL '1' MONTH FOLLOWING")
      .foreach { frame =>
        val sql =
          s"SELECT k, id, sum(v) OVER (PARTITION BY k ORDER BY age RANGE BETWEEN $frame) AS s " +
            s"FROM $ages"
        assertFollows(schema, sql, batches)
      }
  }

  test("the functions of a window") {
    Seq(
      "row_number();rank();dense_rank()",
      "lag(id);lead(id, 2);lag(v, 1, -1)",
      "first_value(id);last_value(id)",
      "percent_rank();cume_dist();ntile(3)",
      "nth_value(id, 2);lag(v) IGNORE NULLS;first_value(v) IGNORE NULLS",
      "count_if(v > 2);max(v + id)",
      "collect_list(id);percentile(v, 0.5)",
      "max_by(id, id);approx_count_distinct(v);bool_and(v > 0);stddev(v)"
    ).foreach { functions =>
      assertFollows(schema, over(functions, "v, id"), batches)
    }
    SinceSpark("4.2") {
      assertFollows(schema, over("sum(v) FILTER (WHERE id > 3)", "v, id"), batches)
    }
  }

  test("without an order, and without a partition") {
    Seq(
      "SELECT *, sum(v) OVER (PARTITION BY k) AS s FROM {t}",
      "SELECT *, count(*) OVER () AS n FROM {t}",
      "SELECT *, mode() WITHIN GROUP (ORDER BY id) OVER (PARTITION BY v) AS m FROM {t} WHERE v > 4",
      "SELECT *, sum(v) OVER (ORDER BY v, id ROWS 2 PRECEDING) AS s FROM {t}",
      "SELECT k, v, v - avg(v) OVER (PARTITION BY k) AS d FROM {t}"
    ).foreach(assertFollows(schema, _, batches, restarts = Set(2)))
  }

  SinceSpark("4.2") {
    test("QUALIFY") {
      assertFollows(
        schema,
        "SELECT * FROM {t} QUALIFY v > avg(v) OVER (PARTITION BY k)",
        batches,
        restarts = Set(1, 4))
    }
  }

  test("several windows in one query, below and above other operators") {
    Seq(
      "SELECT k, v, sum(v) OVER (PARTITION BY k ORDER BY id, v) AS s, " +
        "count(*) OVER (PARTITION BY v) AS n FROM {t}",
      "SELECT k, max(s) AS m FROM (SELECT *, sum(v) OVER (PARTITION BY k ORDER BY id, v) AS s " +
        "FROM {t}) GROUP BY k",
      "SELECT k, n, lag(n) OVER (ORDER BY n, k) AS before FROM (SELECT k, count(*) AS n FROM {t} " +
        "GROUP BY k)",
      "SELECT k, v, n, avg(v) OVER (PARTITION BY n ORDER BY v, k ROWS 2 PRECEDING) AS a FROM " +
        "(SELECT k, v, count(*) AS n FROM {t} GROUP BY k, v)"
    ).foreach(assertFollows(schema, _, batches, restarts = Set(1, 4)))
  }

  test("only rows whose results change are emitted") {
    val fed = stream(schema, over("sum(v)", "id", "ROWS 1 PRECEDING"))
    try {
      fed.start()
      fed.feed((1 to 9).map(i => Row("a", i, i * 10)))
      fed.feed(Seq(Row("a", 100, 45)))
      assert(fed.last.map(_.toString) ==
        Seq("[a,5,50,9,-D]", "[a,100,45,104,+I]", "[a,5,50,105,+I]"))
    } finally fed.stop()
  }

  test("row_kind() in the SELECT of a window") {
    val fed = stream(schema, "")
    try {
      fed.startAs(
        "append",
        "SELECT k, sum(v) OVER (PARTITION BY k ORDER BY id) AS s, " +
          "count(*) OVER (PARTITION BY v) AS n, row_kind() AS op FROM {t}")
      fed.feed(Seq(Row("a", 1, 1)))
      fed.feed(Seq(Row("a", 2, 2)))
      assert(fed.last.map(_.toString) == Seq("[a,3,1,+I]"))
    } finally fed.stop()
  }

  test("with an upsert key a changed result is an update") {
    val fed = stream(
      schema,
      "SELECT k, n, lag(n) OVER (ORDER BY k) AS before FROM " +
        "(SELECT k, count(*) AS n FROM {t} GROUP BY k)")
    try {
      fed.start()
      fed.feed(Seq(Row("a", 1, 1), Row("b", 1, 1)))
      fed.feed(Seq(Row("a", 2, 2)))
      assert(fed.last.map(_.toString) ==
        Seq("[a,1,null,-U]", "[a,2,null,+U]", "[b,1,1,-U]", "[b,1,2,+U]"))
    } finally fed.stop()
  }

  test("all functions of a window see rows that tie in one order") {
    val fed = stream(
      schema,
      "SELECT v, id, lag(id) OVER w AS l, row_number() OVER w AS rn, sum(1) OVER (ORDER BY v RANGE BETWEEN " +
        "UNBOUNDED PRECEDING AND CURRENT ROW) AS s FROM {t} WINDOW w AS (ORDER BY v)"
    )
    try {
      fed.start()
      fed.feed(Seq(Row("a", 1, 1), Row("a", 1, 2)))
      fed.feed(Seq(Row("a", 1, 3), Row("a", 0, 4)))
      val rows = fed.emitted.foldLeft(Vector.empty[Row]) { (rows, change) =>
        val row = Row.fromSeq(change.toSeq.init)
        if (change.getString(5) == "+I") rows :+ row else rows.diff(Seq(row))
      }.sortBy(_.getInt(3))
      assert(rows.map(_.getInt(3)) == Seq(1, 2, 3, 4))
      assert(rows.map(_.get(2)) == null +: rows.init.map(_.get(1)), rows.mkString(" "))
    } finally fed.stop()
  }

  test("all functions of a window see equal rows in one order") {
    def checked(partition: String): Unit = {
      val fed = stream(
        schema,
        "SELECT v, lag(v) OVER w AS l, sum(v) OVER (" + partition + "ORDER BY v ROWS 1 PRECEDING) AS s, " +
          "row_number() OVER w AS n, count(*) OVER (" + partition + "ORDER BY v RANGE BETWEEN UNBOUNDED PRECEDING AND " +
          s"CURRENT ROW) AS c FROM {t} WINDOW w AS (${partition}ORDER BY v)"
      )
      try {
        fed.start()
        val table = new ConsumedTable
        var shown = Map.empty[Seq[Any], Int].withDefaultValue(0)
        Seq(Seq.fill(2)(200), Seq(5, 200, 5), Seq.fill(300)(7), Seq(1, 7, 200)).foreach { values =>
          fed.feed(values.zipWithIndex.map { case (v, i) => Row("a", v, i) })
          fed.last.foreach { change =>
            table.consume(change)
            val (row, kind) = (change.toSeq.init, change.getString(5))
            shown += row -> (shown(row) + (if (kind == "+I" || kind == "+U") 1 else -1))
          }
          assert(table.wrong.isEmpty, table.wrong)
          val rows =
            shown.toSeq.flatMap { case (row, n) => Seq.fill(n)(row) }.sortBy(_(3).asInstanceOf[Int])
          val all = rows.map(_.head.asInstanceOf[Int])
          assert(rows.map(_(3)) == (1 to all.size) && all == all.sorted)
          assert(rows.map(row => Option(row(1))) == None +: all.init.map(Option(_)))
          assert(rows.map(_(2)) == all.zip(0 +: all.init).map { case (v, before) =>
            v.toLong + before
          })
          fed.restart()
        }
      } finally fed.stop()
    }
    providers.zip(Seq("", "PARTITION BY k ")).foreach { case (provider, partition) =>
      withProvider(provider)(checked(partition))
    }
  }

  test("rows that tie, equal and other ones, and functions that nothing reads") {
    val tied =
      "SELECT s, l, n FROM (SELECT v, concat(k, k) AS s, lag(concat(k, k)) OVER w AS l, row_number() OVER w AS n " +
        "FROM {t} WINDOW w AS (PARTITION BY v ORDER BY id))"
    val keyed =
      "SELECT s, l, n FROM (SELECT k, m AS s, lag(m) OVER w AS l, row_number() OVER w AS n " +
        "FROM (SELECT k, max(v) AS m FROM {t} GROUP BY k) WINDOW w AS (ORDER BY m))"
    Seq(tied, keyed).foreach { sql =>
      val fed = stream(schema, sql)
      try {
        fed.start()
        var shown = Vector.empty[Seq[Any]]
        Seq(Seq("a", "a", "c", "c"), Seq("b", "a", "b")).foreach { keys =>
          fed.feed(keys.map(Row(_, 200, 1)))
          fed.last.foreach { change =>
            val row = change.toSeq.init
            shown = if (Set("+I", "+U")(change.getString(3))) shown :+ row else shown.diff(Seq(row))
          }
          val rows = shown.sortBy(_(2).asInstanceOf[Int])
          assert(rows.map(_(2)) == (1 to rows.size))
          assert(
            rows.map(row => Option(row(1))) == None +: rows.init.map(row => Option(row.head)),
            sql)
        }
      } finally fed.stop()
    }
    assertFollows(
      schema,
      "SELECT v, n FROM (SELECT v, lag(v) OVER w AS l, row_number() OVER w AS n FROM {t} WINDOW w AS (ORDER BY v))",
      Seq(Seq(Row("a", 2, 1), Row("a", 2, 2)), Seq(Row("a", 1, 1), Row("a", 2, 1)))
    )
  }

  test("the bits of nulls of many columns do not change the order of rows that tie") {
    val columns = Seq("o", "id") ++ (1 to 8).map(i => s"c$i")
    val fed = stream(
      s"k INT, ${columns.map(c => s"$c INT").mkString(", ")}",
      s"SELECT k, ${columns.mkString(", ")}, lag(id) OVER w AS l, row_number() OVER w AS n FROM {t} " +
        "WINDOW w AS (PARTITION BY k ORDER BY o)"
    )
    def row(id: Int, missing: Int) =
      Row.fromSeq(Seq(1, 1, id) ++ (1 to 8).map(i => if (i == missing) null else 1))
    try {
      fed.start()
      fed.feed((1 to 8).map(i => row(id = i, missing = i)))
      val rows = fed.emitted.map(r => (s"${r.get(2)}", s"${r.get(11)}", r.getInt(12)))
        .sortBy(_._3).toSeq
      assert(rows.map(_._3) == (1 to 8))
      assert(rows.map(_._2) == "null" +: rows.init.map(_._1), rows.mkString(" "))
    } finally fed.stop()
  }

  test("a RANGE over decimals ends where Spark's does") {
    def row(text: String, id: Int) = Row(new java.math.BigDecimal(text), id)
    assertFollows(
      "d DECIMAL(38, 18), id INT",
      "SELECT d, id, sum(id) OVER (ORDER BY d RANGE 1 PRECEDING) AS s FROM {t}",
      Seq(Seq(row("1.000000000000000005", 1)), Seq(row("0.000000000000000006", 2)))
    )
  }

  test("a row that takes another place is updated, whatever is between its places") {
    val sums = "(SELECT k, id, sum(v) AS s FROM {t} GROUP BY k, id)"
    val first = (1 to 9).map(id => Row(if (id % 4 == 0) "b" else "a", id * 10, id))
    val moves = Seq(Row("a", 1000, 1), Row("a", -500, 9), Row("b", 100, 4))
    val back = Seq(Row("a", -995, 1), Row("a", 15, 3), Row("a", null, 5), Row("c", 1, 1))
    val fed = Seq(first, moves, back, moves.reverse)
    val over = Seq(
      s"SELECT k, id, s, lag(s) OVER (PARTITION BY k ORDER BY s DESC) AS p FROM $sums",
      s"SELECT k, id, s, sum(s) OVER (PARTITION BY k ORDER BY s ROWS 1 PRECEDING) AS p FROM $sums"
    )
    for (sql <- over; few <- Seq(1, 1000)) withConf(ChangelogConf.MAX_BUFFERED_ROWS.key -> few) {
      assertFollows(schema, sql, fed, restarts = Set(2))
      assert(assertUpserts(schema, sql, fed), sql)
      // A side of which a key has one row: a version replaces the one before.
      val joined =
        s"SELECT o.*, n FROM ($sql) o JOIN (SELECT k, id, count(*) AS n FROM {t} GROUP BY k, id) c " +
          "ON o.k = c.k AND o.id = c.id"
      assertFollows(schema, joined, fed)
    }
  }

  test("averages of short decimals are rounded as in a batch query") {
    // 127.21 of 160 rows: 0.795062 as doubles, 0.795063 exactly.
    val rows = (0 until 160).map { id =>
      Row(id, new java.math.BigDecimal(if (id == 159) 160 else id).movePointLeft(2))
    }
    Seq(
      "SELECT id, avg(d) OVER () AS m, row_number() OVER (ORDER BY id) AS n, avg(d) OVER w + 1 AS p " +
        "FROM {t} WINDOW w AS (ORDER BY id ROWS 3 PRECEDING)",
      "SELECT avg(d) AS m, avg(DISTINCT d) AS o, avg(d) FILTER (WHERE id > 3) AS p, sum(d) AS s, " +
        "try_avg(d) AS t FROM {t}",
      "SELECT id % 2 AS k, avg(d) AS m FROM {t} GROUP BY id % 2 HAVING avg(d) > 0",
      "SELECT avg(m) AS m FROM (SELECT id % 5 AS k, avg(d) AS m FROM {t} GROUP BY id % 5)"
    ).foreach { sql =>
      assertFollows("id INT, d DECIMAL(7, 2)", sql, Seq(rows.take(100), rows.drop(100)), Set(1))
    }
  }

  test("an update is one, however few rows may be held") {
    withConf(ChangelogConf.MAX_BUFFERED_ROWS.key -> 1) {
      val fed = stream(
        schema,
        "SELECT k, n, count(*) OVER (PARTITION BY k) AS c FROM " +
          "(SELECT k, count(*) AS n FROM {t} GROUP BY k)")
      try {
        fed.start()
        fed.feed(Seq(Row("a", 1, 1)))
        fed.feed(Seq(Row("a", 1, 1)))
        assert(fed.last.map(_.toString) == Seq("[a,1,1,-U]", "[a,2,1,+U]"))
      } finally fed.stop()
    }
  }

  test("row_kind() in a window is refused") {
    val text =
      refusal(schema, "SELECT k, sum(v) OVER (PARTITION BY row_kind() ORDER BY id) AS s FROM {t}")
    assert(text.contains("FIRESTEEL_CHANGELOG_MISPLACED_ROW_KIND"), text)
  }
}

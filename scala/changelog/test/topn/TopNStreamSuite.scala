package io.firesteel.changelog.topn

import io.firesteel.changelog.ChangelogSuite
import io.firesteel.changelog.common.ChangelogConf
import org.apache.spark.sql.Row

/** The first rows of a partition, over rows that come and over rows that change. */
class TopNStreamSuite extends ChangelogSuite {

  private val schema = "k STRING, v INT, id INT"

  private def top(bound: String, columns: String = "k, v, id", function: String = "row_number") =
    s"SELECT $columns FROM (SELECT *, $function() OVER (PARTITION BY k ORDER BY v DESC, id) AS rn " +
      s"FROM {t}) WHERE $bound"

  private val batches = Seq(
    Seq(Row("a", 5, 1), Row("a", 3, 2), Row("b", null, 3)),
    Seq(Row("a", 4, 4), Row("a", 9, 5), Row(null, 1, 6), Row(null, 1, 7)),
    Nil,
    Seq(Row("b", 2, 8), Row("b", 2, 8), Row("a", 9, 0))
  )

  providers.foreach { provider =>
    test(s"a Top-N follows the batch query, ${provider.split('.').last}") {
      withProvider(provider) {
        assertFollows(schema, top("rn <= 2"), batches, restarts = Set(1, 3))
        assertFollows(schema, top("rn <= 2", "k, v, id, rn"), batches, restarts = Set(2))
      }
    }
  }

  test("no row has a place below the first") {
    val fed = stream(
      "id INT, op STRING",
      "SELECT id FROM (SELECT *, row_number() OVER (ORDER BY id) AS rn FROM " +
        "from_changelog(TABLE({t}), op => 'op')) WHERE rn <= -40"
    )
    try {
      fed.start()
      fed.feed((1 to 100).map(Row(_, "+I")))
      fed.feed((1 to 40).map(Row(_, "-D")))
      assert(fed.emitted.isEmpty)
    } finally fed.stop()
  }

  test("ties share a place under RANK and DENSE_RANK") {
    Seq("rank", "dense_rank").foreach { function =>
      Seq("k, v, id", "k, v, id, rn").foreach { columns =>
        val sql = s"SELECT $columns FROM (SELECT *, $function() OVER (PARTITION BY k ORDER BY v) " +
          "AS rn FROM {t}) WHERE rn BETWEEN 1 AND 2"
        assertFollows(schema, sql, batches, restarts = Set(2))
      }
    }
  }

  test("without its number a row that is displaced is one deletion and one insertion") {
    val fed = stream(schema, top("rn <= 2"))
    try {
      fed.start()
      fed.feed(Seq(Row("a", 5, 1), Row("a", 3, 2)))
      fed.feed(Seq(Row("a", 7, 3)))
      assert(fed.last.map(_.toString) == Seq("[a,3,2,-D]", "[a,7,3,+I]"))
    } finally fed.stop()
  }

  test("with its number every place that shifts is an update") {
    val fed = stream(schema, top("rn <= 2", "id, rn"))
    try {
      fed.start()
      fed.feed(Seq(Row("a", 5, 1), Row("a", 3, 2)))
      fed.feed(Seq(Row("a", 7, 3)))
      assert(fed.last.map(_.toString) == Seq("[1,1,-U]", "[3,1,+U]", "[2,2,-U]", "[1,2,+U]"))
    } finally fed.stop()
  }

  test("deduplication keeps the first or the last row of a key") {
    Seq("ASC", "DESC").foreach { direction =>
      val sql = "SELECT k, v FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY id " +
        s"$direction, v) AS rn FROM {t}) WHERE rn = 1"
      assertFollows(schema, sql, batches, restarts = Set(1))
    }
  }

  test("OFFSET above LIMIT, as a DataFrame has it") {
    val sql = "(SELECT id, v FROM {t} ORDER BY v, id LIMIT 4) OFFSET 2"
    assertFollows(
      "id INT, v INT",
      sql,
      Seq((1 to 6).map(i => Row(i, 10 - i)), Seq(Row(7, 0))),
      restarts = Set(1))
  }

  test("a limit of a limit takes rows in the order of that one") {
    Seq(
      "SELECT id, w FROM (SELECT v * 2 AS w, id FROM (SELECT * FROM {t} ORDER BY v DESC, id LIMIT 5)) LIMIT 2",
      "SELECT id, v FROM (SELECT id, v FROM {t} ORDER BY v, id LIMIT 5 OFFSET 1) LIMIT 2 OFFSET 1",
      "SELECT id, v FROM (SELECT id, v FROM {t} ORDER BY v, id OFFSET 2) OFFSET 1",
      "SELECT id, v FROM (SELECT id, v FROM {t} ORDER BY v, id LIMIT 2) LIMIT 3 OFFSET 2",
      "SELECT id, v FROM (SELECT id, v FROM {t} ORDER BY v, id LIMIT 3) ORDER BY v DESC, id LIMIT 2"
    ).foreach(sql => assertFollows(schema, sql, batches))
  }

  test("a limit of a limit that others read, too, takes rows in its order") {
    val top = "(SELECT id, v FROM {t} ORDER BY v DESC, id LIMIT 4)"
    Seq(
      s"SELECT 'best' AS w, id FROM (SELECT * FROM $top LIMIT 1) UNION ALL SELECT 'all', id FROM $top",
      s"SELECT 'best' AS w, id FROM (SELECT id FROM $top LIMIT 1 OFFSET 1) UNION ALL SELECT 'all', id FROM $top",
      s"SELECT 'last' AS w, id FROM (SELECT id FROM $top OFFSET 2) UNION ALL SELECT 'all', id FROM $top"
    ).foreach(sql => assertFollows(schema, sql, batches))
    val filtered = s"SELECT id FROM $top WHERE id % 2 = 1 LIMIT 1"
    assert(refusal(schema, filtered).contains("ORDER BY in a subquery"))
  }

  test("LIMIT without ORDER BY keeps any rows, OFFSET without LIMIT leaves the first out") {
    val counts = "SELECT k, count(*) AS n FROM {t} GROUP BY k"
    Seq(
      "SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM {t} LIMIT 3)",
      s"SELECT count(*), count(DISTINCT k) FROM ($counts LIMIT 2 OFFSET 1)",
      "SELECT count(*) FROM (SELECT k FROM {t} UNION ALL SELECT k FROM {t} OFFSET 5)",
      s"$counts ORDER BY n DESC, k OFFSET 1",
      "SELECT id, v FROM {t} ORDER BY v, id OFFSET 2"
    ).foreach(sql => assertFollows(schema, sql, batches, restarts = Set(1)))
  }

  test("places without a last one, and with a column as bound") {
    Seq("row_number", "rank", "dense_rank").foreach { function =>
      val ties = if (function == "row_number") ", id" else ""
      val ranked =
        s"SELECT *, $function() OVER (PARTITION BY k ORDER BY v$ties) AS place FROM {t}"
      Seq(
        ranked,
        s"SELECT * FROM ($ranked) WHERE place >= 2",
        s"SELECT id, v FROM ($ranked) WHERE place <= id - 1",
        s"SELECT * FROM (SELECT *, $function() OVER (PARTITION BY n ORDER BY k) AS place " +
          "FROM (SELECT k, count(*) AS n FROM {t} GROUP BY k)) WHERE place <= n"
      ).foreach(sql => assertFollows(schema, sql, batches, restarts = Set(2)))
    }
  }

  test("ORDER BY ... LIMIT is a Top-N of the whole, with OFFSET too") {
    Seq("LIMIT 3", "LIMIT 2 OFFSET 1").foreach { limit =>
      assertFollows(
        schema,
        s"SELECT id, v FROM {t} ORDER BY v DESC NULLS LAST, id $limit",
        batches,
        restarts = Set(3))
    }
  }

  test("a Top-N over an aggregate over an aggregate takes rows back") {
    assertFollows(
      schema,
      """SELECT * FROM (
        |  SELECT c, n, row_number() OVER (ORDER BY n DESC, c) AS place FROM (
        |    SELECT c, count(*) AS n FROM (SELECT k, v, count(*) AS c FROM {t} GROUP BY k, v)
        |    GROUP BY c))
        |WHERE place <= 2""".stripMargin,
      batches,
      restarts = Set(1, 2, 3)
    )
  }

  test("partitions of 0.0 and -0.0 are one, and their rows show one zero") {
    assertFollows(
      "d DOUBLE, id INT",
      "SELECT d, id FROM (SELECT *, row_number() OVER (PARTITION BY d ORDER BY id) AS rn FROM {t}) " +
        "WHERE rn = 1",
      Seq(Seq(Row(0.0, 2), Row(Double.NaN, 3)), Seq(Row(-0.0, 1), Row(Double.NaN, 4)))
    )
  }

  test("places that are listed, of another type, or in no order") {
    Seq("rn IN (1, 2)", "rn = 1 OR rn = 3", "rn <= 1.5D AND (v > 3 OR rn = 1)").foreach { bound =>
      assertFollows(schema, top(bound), batches.take(2), restarts = Set(1))
    }
    assertFollows(
      "k STRING",
      "SELECT k FROM (SELECT k, row_number() OVER (PARTITION BY k, NULL ORDER BY NULL) AS rn FROM {t}) WHERE rn = 1",
      Seq(Seq(Row("a"), Row("b")), Seq(Row("a"), Row("c")))
    )
  }

  test("what a Top-N by a float shows identifies its rows, whichever zero they have") {
    val sql =
      "SELECT d, rn, id FROM (SELECT *, row_number() OVER (PARTITION BY d ORDER BY id) AS rn FROM {t}) " +
        "WHERE rn <= 2"
    val rows =
      Seq(Seq(Row(0.0, 2), Row(Double.NaN, 3)), Seq(Row(-0.0, 1), Row(null, 4)), Seq(Row(0.0, 0)))
    assert(assertUpserts("d DOUBLE, id INT", sql, rows))
    // A join keeps its matches by this key.
    assertFollows(
      "d DOUBLE, id INT",
      s"SELECT d, rn, id, label FROM ($sql) JOIN (SELECT id AS rn, 'x' AS label FROM range(3)) USING (rn)",
      rows)
  }

  test("a filter on the place beside its bound, through projections that rename it") {
    assertFollows(
      schema,
      "SELECT place + 1 AS p, k FROM (SELECT r AS place, k, v FROM (SELECT *, row_number() " +
        "OVER (PARTITION BY k ORDER BY id, v) AS r FROM {t})) WHERE place <= 3 AND place <> 2 " +
        "AND (v > 1 OR v IS NULL)",
      batches
    )
  }

  private def trending(function: String, columns: String, order: String) =
    s"""SELECT $columns FROM (
       |  SELECT *, $function() OVER (PARTITION BY k ORDER BY $order) AS rn FROM (
       |    SELECT k, id, count(v) AS c, max(v) AS m, min(v) AS least, sum(v) AS s FROM {t}
       |    GROUP BY k, id))
       |WHERE rn <= 2""".stripMargin

  private val growing = Seq(
    Seq(Row("a", 5, 1), Row("a", 3, 2), Row("a", 3, 3), Row("b", null, 1), Row(null, 1, 1)),
    Seq(Row("a", 1, 3), Row("a", 2, 3), Row("b", null, 2), Row("b", 3, 2), Row("a", null, 2)),
    Nil,
    Seq(Row("a", 9, 4), Row("a", 9, 4), Row("a", 9, 4), Row("a", 9, 4), Row("b", 1, 1)),
    Seq(Row("a", 7, 2), Row("a", 7, 2), Row("a", 7, 1), Row("b", 1, 3), Row(null, 2, 2))
  )

  /** One provider after the other, each case by one of them. */
  private def inTurn[T](cases: Seq[T])(body: T => Any): Unit =
    cases.zipWithIndex.foreach { case (one, i) =>
      withProvider(providers(i % providers.size)) { val _ = body(one) }
    }

  test("a Top-N of rows that only get better") {
    inTurn(
      Seq(
        ("row_number", "k, id, c, s", "c DESC, id", 1000),
        ("row_number", "k, id, m, s, rn", "m DESC, id", 1),
        ("rank", "k, id, least, s, rn", "least ASC NULLS LAST", 1000),
        ("dense_rank", "k, id, c, s", "c DESC", 1)
      )) { case (function, columns, order, buffered) =>
      withConf(ChangelogConf.MAX_BUFFERED_ROWS.key -> buffered) {
        assertFollows(schema, trending(function, columns, order), growing, restarts = Set(2))
      }
    }
  }

  test("places are refilled from rows far behind") {
    // A row's total moves it from one end of its partition to the other, hundreds at a time.
    val sums = "SELECT id % 2 AS half, id, sum(v) AS s, max(k) AS k FROM {t} GROUP BY id"
    def batch(ids: Range, v: Int => Int) = ids.map(id => Row("x", v(id), id))
    val batches = Seq(
      batch(0 until 60, identity),
      batch(60 until 400, identity),
      batch(300 until 400, _ => -10000),
      batch(100 until 300, id => -3 * id),
      batch(0 until 400 by 3, id => 7 * id),
      batch(0 until 400, id => -1000 * (id % 5)),
      batch(0 until 20, _ => 1000000)
    )
    inTurn(
      Seq(
        ("row_number", "s DESC, id", "rn <= 3", "half, id, s, rn"),
        ("row_number", "s DESC, id", "rn = 1", "half, id, s"),
        ("rank", "s DESC", "rn <= 2", "half, id, s"),
        ("dense_rank", "s", "rn BETWEEN 2 AND 3", "half, id, rn")
      )) { case (function, order, bound, columns) =>
      val sql =
        s"SELECT $columns FROM (SELECT *, $function() OVER (PARTITION BY half ORDER BY $order) " +
          s"AS rn FROM ($sums)) WHERE $bound"
      assertFollows(schema, sql, batches, restarts = Set(2, 5))
    }
  }

  test("the best of a group, by a count, replaces the one before or its own older version") {
    Seq("c DESC, id", "m DESC, id").foreach { order =>
      assertFollows(
        schema,
        trending("row_number", "k, id, c, s", order).replace("rn <= 2", "rn = 1"),
        growing,
        restarts = Set(1, 3))
    }
  }

  private val words = "word STRING, v INT, w INT"
  private val counted = "SELECT word, count(v) AS c, sum(w) AS s FROM {t} GROUP BY word"

  test("under DENSE_RANK a row moves up when two others become equal") {
    def say(word: String, times: Int) = Seq.fill(times)(Row(word, 1, 0))
    assertFollows(
      words,
      s"SELECT word, c, r FROM (SELECT *, dense_rank() OVER (ORDER BY c DESC) AS r FROM ($counted)) WHERE r <= 2",
      Seq(say("a", 5) ++ say("b", 4) ++ say("c", 3), say("b", 1), say("d", 4))
    )
  }

  test("of rows that tie, none is told as it was before it changed") {
    Seq(1, 2).foreach { n =>
      val sql = "SELECT word, c, s FROM (SELECT *, row_number() OVER (ORDER BY c DESC) AS r FROM " +
        s"($counted)) WHERE r <= $n"
      Seq("a" -> "b", "b" -> "a", "c" -> "a", "a" -> "c").foreach { case (x, y) =>
        val fed = stream(words, sql)
        try {
          fed.start()
          fed.feed(Seq(Row(x, 1, 1), Row("o", 1, 1), Row("p", 1, 1)).take(n + n - 1))
          fed.feed(Seq(Row(x, null, 9), Row(y, 1, 5)))
          val rows = fed.emitted.foldLeft(Seq.empty[Row]) { (has, change) =>
            val row = Row.fromSeq(change.toSeq.init)
            if (Seq("+I", "+U").contains(change.getString(3))) has :+ row else has.diff(Seq(row))
          }
          val all = fed.answer(counted)
          assert(rows.size == n && rows.forall(all.contains), s"$x $y: $rows of $all")
        } finally fed.stop()
      }
    }
  }

  test("the greatest of a table of one row is the row as it is now") {
    val fewRows = Seq(Seq(Row("a", 1, 0), Row("b", 2, 0)), Seq(Row("c", 3, 0)), Nil)
    Seq("count(DISTINCT v)", "max(v)").foreach { call =>
      assertFollows(
        words,
        s"SELECT * FROM (SELECT $call AS c FROM {t}) ORDER BY c DESC LIMIT 3",
        fewRows)
    }
  }

  test("many rows that tie, in generated code and without, whatever the memory") {
    val rows = (0 until 400).map(i => Row(s"k${i % 3}", i % 4, i))
    for {
      function <- Seq("rank", "dense_rank", "row_number")
      compiled <- Seq(true, false)
      limit <- Seq(7, 100000)
    } withConf(
      "spark.sql.codegen.wholeStage" -> compiled,
      ChangelogConf.MAX_BUFFERED_ROWS.key -> limit) {
      assertFollows(
        schema,
        s"SELECT k, v, id FROM (SELECT *, $function() OVER (PARTITION BY k ORDER BY v DESC" +
          s"${if (function == "row_number") ", id" else ""}) AS rn FROM {t}) WHERE rn <= 2",
        Seq(rows.take(150), rows.drop(150))
      )
    }
  }

  test("bounds that contradict one another have no rows, and may be in two filters") {
    Seq(
      "rn <= 1 AND rn > 1",
      "rn = 1 AND rn = 2",
      "rn < 2 AND rn = 2",
      "rn < 0",
      "rn = -1").foreach { bound =>
      assertFollows(schema, top(bound), batches)
    }
    assertFollows(schema, s"SELECT * FROM (${top("rn <= 2", "*")}) WHERE v > 3", batches)
    val two =
      "SELECT k, v, id FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v) AS rn " +
        "FROM {t}) WHERE v > 2) WHERE rn <= 2"
    assertFollows(schema, two, batches)
    assertFollows(schema, "SELECT id, v FROM {t} ORDER BY v, id LIMIT 0 OFFSET 1", batches)
  }
}

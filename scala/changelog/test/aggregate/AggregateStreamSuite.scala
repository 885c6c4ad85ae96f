package io.firesteel.changelog.aggregate

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}
import org.apache.spark.sql.Row
import org.apache.spark.sql.firesteel.lastBatchOf

/** Aggregates, over rows that come and over rows that change. */
class AggregateStreamSuite extends ChangelogSuite {

  private val words = "word STRING, n INT"

  private def some(texts: String*): Seq[Row] =
    texts.zipWithIndex.map { case (t, i) => Row(t, i) }

  private val cascade =
    "SELECT c, count(*) AS words, sum(s) AS total FROM " +
      "(SELECT word, count(*) AS c, sum(n) AS s FROM {t} GROUP BY word) GROUP BY c"

  providers.foreach { provider =>
    test(s"an aggregate over an aggregate follows the batch query, ${provider.split('.').last}") {
      withProvider(provider) {
        assertFollows(
          words,
          cascade,
          Seq(some("a", "b", "a"), some("b", "c", "c", "c"), Nil, some("d"), some("a", null, null)),
          restarts = Set(2, 4))
      }
    }
  }

  test("a count emits what Flink emits: insertions, then updates with both sides") {
    val fed = stream(words, "SELECT word, count(*) AS c FROM {t} GROUP BY word")
    try {
      fed.start()
      fed.feed(some("a", "b", "a"))
      assert(fed.last.map(_.toString).sorted == Seq("[a,2,+I]", "[b,1,+I]"))
      fed.feed(some("a"))
      assert(fed.last.map(_.toString) == Seq("[a,2,-U]", "[a,3,+U]"))
    } finally fed.stop()
  }

  test("a group whose last row is taken back is deleted") {
    val fed = stream(words, cascade)
    try {
      fed.start()
      fed.feed(Seq(Row("a", 5)))
      assert(fed.last.map(_.toString) == Seq("[1,1,5,+I]"))
      fed.feed(Seq(Row("a", 6)))
      assert(fed.last.map(_.toString).sorted == Seq("[1,1,5,-D]", "[2,1,11,+I]"))
    } finally fed.stop()
  }

  test("an aggregate without keys has a row although no row passes its filter") {
    val fed = stream(words, "SELECT count(DISTINCT word) AS c, max(n) AS m FROM {t} WHERE n > 5")
    try {
      fed.start()
      fed.feed(Seq(Row("a", 1)))
      assert(fed.last.map(_.toString) == Seq("[0,null,+I]"))
      fed.feed(Seq(Row("b", 2)))
      assert(fed.last.isEmpty && fed.difference.isEmpty)
      fed.feed(Seq(Row("b", 7), Row("b", 8)))
      assert(fed.last.map(_.toString) == Seq("[0,null,-U]", "[1,8,+U]"))
    } finally fed.stop()
  }

  test("a micro-batch that leaves every result as it was emits nothing") {
    val fed =
      stream(words, "SELECT word, max(n) AS m, count(DISTINCT n) AS c FROM {t} GROUP BY word")
    try {
      fed.start()
      fed.feed(Seq(Row("a", 5), Row("b", 1)))
      fed.feed(Seq(Row("a", 5), Row("b", null)))
      assert(fed.last.isEmpty && fed.difference.isEmpty)
    } finally fed.stop()
  }

  test("a sum that overflows is Spark's error, also when a try_sum of it is not") {
    val fed = stream("k INT, v BIGINT", "SELECT k, try_sum(v) AS s FROM {t} GROUP BY k")
    val failing = stream("k INT, v BIGINT", "SELECT k, sum(DISTINCT v) AS s FROM {t} GROUP BY k")
    try {
      fed.start()
      fed.feed(Seq(Row(1, Long.MaxValue), Row(1, 1L), Row(2, 5L)))
      assert(fed.difference.isEmpty)
      failing.start()
      val error = intercept[Exception](failing.feed(Seq(Row(1, Long.MaxValue), Row(1, 1L))))
      assert(error.getMessage.contains("ARITHMETIC_OVERFLOW"))
    } finally {
      fed.stop()
      failing.stop()
    }
  }

  test("without ANSI a sum wraps around as Spark's does") {
    withConf("spark.sql.ansi.enabled" -> false) {
      assertFollows(
        "k INT, v BIGINT, w DECIMAL(38,2)",
        "SELECT k, sum(DISTINCT v) AS s, sum(DISTINCT w) AS w FROM {t} GROUP BY k",
        Seq(
          Seq(Row(1, Long.MaxValue, null), Row(1, 1L, null)),
          Seq(
            Row(2, 1L, new java.math.BigDecimal("9" * 36 + ".00")),
            Row(2, 1L, new java.math.BigDecimal("9" * 35 + ".01"))))
      )
    }
  }

  test("the smallest and largest of rows that go are looked for among those that stay") {
    // The largest count of a word grows and goes with each row.
    assertFollows(
      words,
      "SELECT n, max(c) AS most, min(c) AS least, count(DISTINCT c) AS d, sum(DISTINCT c) AS s " +
        "FROM (SELECT word, max(n) AS n, count(*) AS c FROM {t} GROUP BY word) GROUP BY n",
      Seq(
        Seq(Row("a", 1), Row("a", 1), Row("b", 1), Row("c", 1)),
        Seq(Row("b", 1), Row("b", 1), Row("c", 0)),
        Seq(Row("b", 2)),
        Seq(Row("a", 2), Row("c", 2))
      ),
      restarts = Set(2)
    )
  }

  test("count_if, bool_and, any number of arguments and FILTER are counted and taken back") {
    assertFollows(
      words,
      """SELECT c, count_if(s > 3) AS i, bool_and(s > 3) AS b, count(c, m) AS two,
        |  count(DISTINCT m, s) AS pairs, avg(s) FILTER (WHERE m > 0) AS a,
        |  count(DISTINCT m) AS ms, count(DISTINCT m) FILTER (WHERE s > 3) AS some,
        |  sum(DISTINCT m) FILTER (WHERE s < 5) AS low, count(DISTINCT word) AS words,
        |  count(DISTINCT word) FILTER (WHERE m > 1) AS known
        |FROM (SELECT word, count(*) AS c, sum(n) AS s, max(n) AS m FROM {t} GROUP BY word)
        |GROUP BY c""".stripMargin,
      Seq(some("a", "b", "a", "c"), some("b", "b"), some("c", "c", "a")),
      restarts = Set(1)
    )
  }

  test("DISTINCTs that differ by their FILTER share their values below the exchange") {
    val fed = stream(
      words,
      "SELECT word, count(DISTINCT n) AS a, count(DISTINCT n) FILTER (WHERE n > 1) AS b, " +
        "sum(DISTINCT n) FILTER (WHERE n < 3) AS c, count(DISTINCT n + 1) AS d FROM {t} GROUP BY word"
    )
    try {
      fed.start()
      Seq(some("a", "b", "a", "c"), some("b", "b")).foreach(fed.feed)
      fed.difference.foreach(fail(_))
      val same = lastBatchOf(fed.running).get.executedPlan.collect {
        case partial: PartialAggregateExec => partial.same
      }
      assert(same == Seq(Seq(0, 0, 0, 3)), lastBatchOf(fed.running).get.optimizedPlan)
    } finally fed.stop()
  }

  test("ROLLUP, expressions as keys and a window of time are groups like others") {
    assertFollows(
      "ts TIMESTAMP, word STRING, n INT",
      """SELECT c, count(*) AS n FROM (
        |  SELECT window(ts, '1 hour').start AS hour, upper(word) AS w, count(DISTINCT n) AS c
        |  FROM {t} GROUP BY ROLLUP (window(ts, '1 hour'), upper(word)))
        |GROUP BY c""".stripMargin,
      Seq(0, 30, 70).map { minute =>
        val time = java.sql.Timestamp.valueOf("2026-01-01 00:00:00")
        time.setTime(time.getTime + minute * 60000L)
        Seq(Row(time, "a", minute), Row(time, "B", 1), Row(time, null, null))
      }
    )
  }

  providers.foreach { provider =>
    test(s"many values of one group come and go, ${provider.split('.').last}") {
      withProvider(provider) {
        val calls = "count(DISTINCT s), sum(DISTINCT s), min(s), max(s), count(DISTINCT s, text)"
        def rows(ids: Range, v: Int) = ids.map(id => Row(id, v + id % 1500))
        assertFollows(
          "id INT, v INT",
          s"SELECT g, $calls FROM (SELECT id % 7 = 0 AS g, id, sum(v) AS s, concat('number ', sum(v)) AS text " +
            "FROM {t} GROUP BY id) GROUP BY g",
          Seq(
            rows(0 until 50, 0),
            rows(0 until 2000, 0),
            rows(1000 until 4000, 3),
            rows(4000 until 4001, 1),
            // All sums become the same one, but for what came last.
            (0 until 4001).map(id => Row(id, -2 * (id % 1500)))
          ),
          restarts = Set(2, 4)
        )
      }
    }
  }

  private val others =
    """stddev(v) AS sd, var_pop(v) AS vp, round(kurtosis(v), 9) AS ku, round(corr(v, id), 9) AS co, round(skewness(v), 9) AS sk,
      |  percentile(v, 0.5) AS half, percentile_approx(v, array(0.1, 0.9)) AS ends, median(v) AS m,
      |  sort_array(collect_list(v)) AS list, sort_array(collect_set(v % 3)) AS values,
      |  sort_array(collect_list(DISTINCT v % 3) FILTER (WHERE v > 0)) AS some,
      |  max_by(id, v * 1000 + id) AS top, min_by(struct(id, v), v * 1000 + id) AS low,
      |  approx_count_distinct(v) AS near, bit_xor(v) AS bits, any_value(g) AS any, first(g) AS one,
      |  round(regr_slope(v, id), 9) AS slope, sum(make_dt_interval(0, v)) AS hours, hll_sketch_estimate(hll_sketch_agg(v)) AS hll,
      |  max_by(id, v * 1000 + id) FILTER (WHERE id % 2 = 0) AS even""".stripMargin

  private val points = Seq(
    (0 until 12).map(i => Row(i, i * 7 % 5)),
    Seq(Row(3, 4), Row(3, -9), Row(20, null), Row(21, 0)),
    Nil,
    (0 until 12).map(i => Row(i, 2))
  )

  test("any aggregate of Spark's, over rows that come") {
    withProvider(hdfs) {
      assertFollows(
        "id INT, v INT",
        s"SELECT g, $others FROM (SELECT id % 2 AS g, id, v FROM {t}) GROUP BY g",
        points,
        restarts = Set(1))
    }
  }

  test("any aggregate of Spark's, over rows that come and that go") {
    withProvider(rocksDb) {
      assertFollows(
        "id INT, v INT",
        s"SELECT g, $others FROM (SELECT id % 2 AS g, id, sum(v) AS v FROM {t} GROUP BY id) GROUP BY g",
        points,
        restarts = Set(1, 3))
    }
  }

  test("any aggregate of Spark's over nothing is what Spark says of nothing") {
    assertFollows(
      "id INT, v INT",
      "SELECT collect_list(v) AS l, stddev(v) AS s, first(v) AS f, count_min_sketch(v, 0.5d, 0.5d, 1) AS c " +
        "FROM (SELECT id, sum(v) AS v FROM {t} GROUP BY id) WHERE v > 100",
      Seq(Seq(Row(1, 1)), Seq(Row(1, 100)), Seq(Row(1, -100)))
    )
  }

  test("explode above an aggregate gives as many rows as there are now") {
    Seq("explode", "explode_outer", "posexplode").foreach { function =>
      val sql =
        "SELECT word, e.* FROM (SELECT word, collect_set(n) AS all FROM {t} GROUP BY word) " +
          s"LATERAL VIEW $function(filter(all, x -> x > 1)) e"
      val batches = Seq(
        Seq(Row("a", 1), Row("b", 5)),
        Seq(Row("a", 2), Row("a", 3), Row("c", null)),
        Seq(Row("a", 2), Row("b", 6), Row("b", 7)))
      assertFollows(words, sql, batches, restarts = Set(2))
      val counted = s"SELECT count(*) AS n, count(DISTINCT word) AS w FROM ($sql)"
      assertFollows(words, counted, batches)
    }
  }

  test("a set is taken back in the order in which it was told") {
    val numbers = Seq(0 to 9, 16 to 23, Seq(30), 64 to 90).map(_.map(Row("a", _)))
    Seq("collect_set(n)", "mode(n)", "concat_ws(',', collect_set(CAST(n AS STRING)))").foreach {
      call =>
        val fed = stream(words, s"SELECT $call AS s, count(*) AS m FROM {t} GROUP BY word")
        try {
          fed.start()
          numbers.foreach(fed.feed)
          val told = fed.emitted.map(row => row.getString(2) -> row.toSeq.take(2))
          assert(told.map(_._1) == "+I" +: Seq.fill(3)(Seq("-U", "+U")).flatten)
          told.grouped(2).foreach {
            case Seq((_, now), (_, takenBack)) => assert(now == takenBack)
            case _ => ()
          }
        } finally fed.stop()
    }
    assertFollows(
      words,
      "SELECT count(*) AS words FROM (SELECT DISTINCT s FROM (SELECT word, collect_set(n) AS s FROM {t} GROUP BY word))",
      numbers)
  }

  test("listagg in an order, of rows that come and that go") {
    val rows = Seq(some("b", "a", "c"), some("a", "d", null), some("c"))
    val going = "(SELECT word, max(n) AS n FROM {t} GROUP BY word)"
    Seq("{t}", going).foreach { from =>
      Seq("listagg(word, ',')", "listagg(DISTINCT word, ',')").foreach { call =>
        Seq("word", "word DESC").foreach { order =>
          assertFollows(
            words,
            s"SELECT n % 2 AS odd, $call WITHIN GROUP (ORDER BY $order) AS l FROM $from GROUP BY n % 2",
            rows)
        }
      }
    }
  }

  test("what has another value at another time is refused in keys, arguments and filters too") {
    val last = "SELECT word, max(n) AS n FROM {t} GROUP BY word"
    Seq(
      s"SELECT n > second(current_timestamp()) AS k, count(*) AS c FROM ($last) GROUP BY 1",
      s"SELECT count_if(n > second(current_timestamp())) AS c FROM ($last)",
      s"SELECT count(*) FILTER (WHERE n > second(now())) AS c FROM ($last)",
      "SELECT n, count(*) AS c FROM {t} GROUP BY n HAVING n > second(now())"
    ).foreach { sql =>
      assert(
        refusal(words, s"SELECT *, row_kind() AS op FROM ($sql)").contains("NOT_REPEATABLE"),
        sql)
    }
    assertFollows(
      words,
      s"SELECT first(n) AS f, count(*) AS c FROM ($last) WHERE n < 0",
      Seq(some("a")))
  }

  test("distinct sessions of rows are refused by name") {
    val sql = "SELECT DISTINCT session_window(timestamp_seconds(n), '5 minutes') AS w FROM " +
      "(SELECT word, count(*) AS n FROM {t} GROUP BY word)"
    assert(refusal(words, sql, "append").contains("GROUP BY session_window"))
  }

  test("row_kind() is no key and no argument") {
    Seq(
      "SELECT row_kind() AS op, count(DISTINCT n) AS c FROM {t} GROUP BY row_kind()",
      "SELECT count_if(row_kind() = '-U') AS c FROM {t}",
      "SELECT word FROM {t} ORDER BY row_kind(), word LIMIT 3"
    ).foreach { sql =>
      assert(refusal(words, sql).contains("MISPLACED_ROW_KIND"), sql)
    }
  }

  test("common table expressions, in a view and below row_kind()") {
    def view(of: String): String = {
      spark.sql(
        s"WITH c AS (SELECT word, count(*) AS n FROM $of GROUP BY word) SELECT n, count(*) AS m FROM c GROUP BY n"
      ).createOrReplaceTempView("trending")
      "trending"
    }
    val fed = stream(words, "", new ChangelogStream.Changes(view, rows => rows))
    try {
      fed.startAs("append", "SELECT *, row_kind() AS op FROM {t}")
      fed.feed(some("a", "a", "b"))
      assert(fed.last.map(_.toString).sorted == Seq("[1,1,+I]", "[2,1,+I]"))
    } finally fed.stop()
  }

  test("windows of two lengths are told apart by both their ends") {
    val of = "window(timestamp_seconds(n), '%s') AS w FROM {t}"
    assertFollows(
      words,
      "SELECT * FROM (SELECT w.start AS s, w.end AS e, c FROM (SELECT w, count(*) AS c FROM (SELECT " +
        s"${of.format("1 minute")} UNION ALL SELECT ${of.format("1 hour")}) GROUP BY w)) ORDER BY c DESC, s, e LIMIT 4",
      Seq(Seq(Row("a", 5)), Seq(Row("a", 6), Row("b", 70)), Seq(Row("c", 4000)))
    )
  }

  test("a condition is not computed where the one before it does not hold") {
    val positive =
      "SELECT word, sum(n) AS s, count(n) AS c FROM {t} GROUP BY word HAVING sum(n) > 0"
    Seq(
      s"SELECT word FROM ($positive) WHERE 100 / c > 5",
      s"$positive AND 100 / count(n) > 5").foreach {
      sql => assertFollows(words, sql, Seq(Seq(Row("a", null), Row("b", 2)), Seq(Row("a", 3))))
    }
  }

  test("what a FILTER or a WHERE leaves out is not computed") {
    val rows = Seq(Seq(Row("a", 0), Row("a", 2), Row("b", 0)), Seq(Row("b", 5), Row("c", 0)))
    Seq(
      "SELECT word, sort_array(collect_list(10 / n) FILTER (WHERE n <> 0)) AS l FROM {t} GROUP BY word",
      "SELECT word, max_by(word, 10 / n) FILTER (WHERE n <> 0) AS m FROM {t} GROUP BY word",
      "SELECT * FROM (SELECT word, s, 100 / s AS r FROM " +
        "(SELECT word, sum(n) AS s FROM {t} GROUP BY word)) WHERE s <> 0",
      "SELECT r, count(*) AS c FROM (SELECT word, s, 100 / s AS r FROM " +
        "(SELECT word, sum(n) AS s FROM {t} GROUP BY word)) WHERE s <> 0 AND r > 1 GROUP BY r"
    ).foreach(assertFollows(words, _, rows))
  }

  test("values that conditions protect are not computed before the conditions") {
    val rows = Seq(Seq(Row("a", 0), Row("b", 5)), Seq(Row("b", 2), Row("c", 0)), Seq(Row("a", 4)))
    val ratio = "100 / sum(n)"
    Seq(
      "SELECT word, count(*) FILTER (WHERE n <> 0 AND (10 / n > 4 OR 10 / n < 3)) AS c FROM {t} GROUP BY word",
      "SELECT count(*) FILTER (WHERE n <> 0 AND 10 / n > 4) AS c, sum(n) FILTER (WHERE n <> 0 AND 10 / n > 1) AS d FROM {t}",
      "SELECT * FROM (SELECT word, sum(n) AS s FROM {t} GROUP BY word) WHERE s = 0 OR 100 / s > 20 OR 100 / s < 15",
      s"SELECT sum(n) <> 0 AND $ratio > 2 AS hot, sum(n) <> 0 AND $ratio > 10 AS cold FROM {t} WHERE n = 0",
      s"SELECT word, sum(n) <> 0 AND $ratio > 2 AS hot, sum(n) <> 0 AND $ratio > 10 AS cold FROM {t} GROUP BY word",
      "SELECT n, sum(10 / n) AS s FROM {t} GROUP BY n HAVING n <> 0"
    ).foreach(sql => withClue(sql)(assertFollows(words, sql, rows)))
  }

  test("a column of a collation that DISTINCT has twice") {
    val name = "word COLLATE UTF8_LCASE AS x, word COLLATE UTF8_LCASE AS y"
    assertFollows(
      words,
      s"SELECT x, x AS z FROM (SELECT DISTINCT x, x FROM (SELECT $name FROM {t})) AS d(x, z)",
      Seq(Seq(Row("a", 1)), Seq(Row("b", 1), Row("a", 2))))
  }

  test("a correlated subquery in a WHERE above renamed columns") {
    spark.range(3).selectExpr("CAST(id AS INT) AS n").createOrReplaceTempView("numbers")
    assertFollows(
      words,
      "SELECT * FROM (SELECT n AS i FROM (SELECT DISTINCT n FROM {t})) q " +
        "WHERE EXISTS (SELECT 1 FROM numbers d WHERE d.n = q.i)",
      Seq(Seq(Row("a", 1), Row("b", 7)), Seq(Row("c", 2), Row("c", 1)))
    )
  }

  test("the zone and the user stay, the time does not") {
    val last = "SELECT word, max(n) AS n FROM {t} GROUP BY word"
    assertFollows(
      words,
      s"SELECT current_user() AS u, current_timezone() AS z, n, count(*) AS c FROM ($last) GROUP BY 1, 2, 3",
      Seq(some("a", "b"), some("b", "a")))
  }
}

package io.firesteel.changelog.windows

import io.firesteel.changelog.ChangelogStream

import java.sql.Timestamp
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.scheduler.{SparkListener, SparkListenerStageCompleted}
import org.apache.spark.sql.{AnalysisException, Row}

/** `TUMBLE`, `HOP`, `CUMULATE` and `SESSION`: in batch, and on streams, where they answer once. */
class WindowFunctionsSuite extends ClosedWindows {

  private val windows = Map(
    "TUMBLE" -> "TUMBLE(TABLE({t}), DESCRIPTOR(ts), INTERVAL '10' SECOND)",
    "HOP" -> "HOP(TABLE({t}), DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
    "CUMULATE" -> "CUMULATE(TABLE({t}), DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND)",
    "SESSION" -> "SESSION(TABLE({t}) PARTITION BY (k), DESCRIPTOR(ts), INTERVAL '4' SECOND)"
  )

  private def aggregate(windows: String) =
    s"""SELECT window_start, window_end, k, count(*) AS n, sum(v) AS s, count(DISTINCT v) AS d,
       |max(window_time) AS t FROM $windows GROUP BY window_start, window_end, k""".stripMargin

  test("a window function gives what Spark's window gives, with a start before 1970") {
    val rows = Seq(-1800000000, -7, 0, 5, 9, 10, 25).map(row(_, "a", 1))
    import scala.jdk.CollectionConverters._
    spark.createDataFrame(rows.asJava, schema).createOrReplaceTempView("window_rows")
    def answers(sql: String) = spark.sql(sql).collect().map(_.toString).sorted.toSeq
    Seq(
      "TUMBLE(TABLE(window_rows), DESCRIPTOR(ts), INTERVAL '10' SECOND)" -> "window(ts, '10 seconds')",
      "TUMBLE(DATA => TABLE(window_rows), TIMECOL => DESCRIPTOR(ts), SIZE => '10 seconds', `OFFSET` => '3 seconds')" ->
        "window(ts, '10 seconds', '10 seconds', '3 seconds')",
      "hop(TABLE(window_rows), descriptor(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)" ->
        "window(ts, '20 seconds', '5 seconds')",
      "TUMBLE(TABLE(window_rows), DESCRIPTOR(ts), INTERVAL '1' MINUTE + INTERVAL '30' SECOND)" ->
        "window(ts, '90 seconds')",
      "HOP(TABLE(window_rows), DESCRIPTOR(ts), make_dt_interval(0, 0, 0, 5), 2 * INTERVAL '5' SECOND)" ->
        "window(ts, '10 seconds', '5 seconds')"
    ).foreach { case (function, window) =>
      assert(
        answers(s"SELECT ts, window_start, window_end, window_time FROM $function") ==
          answers(
            "SELECT ts, w.start, w.end, w.end - INTERVAL '0.000001' SECOND FROM " +
              s"(SELECT ts, $window AS w FROM window_rows)"))
    }
    assert(
      answers(
        "SELECT window_start, window_end, count(*) FROM " +
          "SESSION(TABLE(window_rows) PARTITION BY (k), DESCRIPTOR(ts), INTERVAL '5' SECOND) GROUP BY 1, 2") ==
        answers(
          "SELECT s.start, s.end, n FROM (SELECT session_window(ts, '5 seconds') AS s, count(*) AS n " +
            "FROM window_rows GROUP BY k, session_window(ts, '5 seconds'))"))
    assert(
      answers(
        "SELECT second(ts), second(window_start), second(window_end) FROM CUMULATE(TABLE(window_rows), " +
          "DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND) WHERE second(ts) BETWEEN 5 AND 10") ==
        Seq("[10,10,15]", "[10,10,20]", "[5,0,10]", "[9,0,10]"))
  }

  windows.foreach { case (name, function) =>
    test(s"an aggregate by windows of $name answers once, in every mode") {
      Seq("append", "update").foreach { mode =>
        closesOnce(aggregate(function), random(1), mode)
      }
    }
    test(s"the best two rows of each window of $name") {
      closesOnce(
        s"""SELECT window_end, k, v, ts, place FROM (SELECT *, row_number() OVER (PARTITION BY
           |window_start, window_end ORDER BY v DESC, ts, k, input) AS place FROM $function)
           |WHERE place <= 2""".stripMargin,
        random(2),
        "update"
      )
    }
  }

  providers.foreach { provider =>
    test(s"joins of windows, ${provider.split('.').last}") {
      withProvider(provider) {
        val tumble = windows("TUMBLE")
        def side(input: String) = s"(SELECT * FROM $tumble WHERE input = '$input')"
        Seq("INNER", "LEFT", "LEFT SEMI", "LEFT ANTI").zipWithIndex.foreach { case (join, i) =>
          val right = if (join.startsWith("LEFT ")) "" else ", r.v AS rv"
          closesOnce(
            s"""SELECT l.window_end, l.k, l.v$right FROM ${side("l")} l $join JOIN ${side("r")} r
               |ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.k = r.k
               |AND l.v >= r.v""".stripMargin,
            random(i),
            if (i % 2 == 0) "append" else "update"
          )
        }
      }
    }
  }

  test("the first row, the first ranks and all places but one of each window and key") {
    Seq("TUMBLE", "HOP").zip(providers).foreach { case (name, provider) =>
      def ranked(call: String, order: String) =
        s"""SELECT window_start, window_end AS until, k, v, input, $call OVER (PARTITION BY
           |window_start, window_end, k ORDER BY $order) AS place FROM ${windows(
            name)}""".stripMargin
      Seq(
        s"SELECT until AS window_end, k, v FROM (${ranked("row_number()", "v, input")}) WHERE place = 1",
        s"SELECT until AS window_end, k, v, place FROM (${ranked("rank()", "v DESC")}) WHERE place <= 2",
        s"SELECT until AS window_end, k, v, place FROM (${ranked("dense_rank()", "v")}) WHERE place = 2 AND k <> 'c'",
        s"SELECT until AS window_end, k, v, place FROM (${ranked("row_number()", "v, input")}) WHERE place > 1"
      ).zipWithIndex.foreach { case (sql, i) =>
        withProvider(provider)(closesOnce(sql, random(6 + i, batches = 3)))
      }
    }
  }

  test("a ranking of few places keeps these rows only") {
    def kept(where: String) = {
      val sql =
        "SELECT window_end, v FROM (SELECT *, row_number() OVER (PARTITION BY window_start, " +
          s"window_end ORDER BY v) AS place FROM ${windows("TUMBLE")}) WHERE $where"
      val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "4 seconds"))
      try {
        fed.startAs("append", s"SELECT *, '+I' AS op FROM ($sql)")
        (0 until 3).foreach(batch =>
          fed.feed((0 until 40).map(i => row(i % 10, "a", 40 * batch + i))))
        fed.running.lastProgress.stateOperators.map(_.numRowsTotal).toSeq
      } finally fed.stop()
    }
    assert(kept("place <= 2") == Seq(2L))
    assert(kept("place = 1") == Seq(1L))
    assert(kept("place <= 1000") == Seq(120L))
  }

  test("sessions of a key with many rows, of which some close") {
    val many = (0 until 4000).map { i =>
      row((if (i % 3 == 0) 30 else 0) + i % 17, if (i % 50 == 0) "b" else "a", i, "x" * 40)
    }
    for (provider <- providers) withProvider(provider) {
      closesOnce(
        aggregate(windows("SESSION")),
        Seq(
          many,
          Seq(row(47, "a", 5000), row(48, "c", 1)),
          Seq(row(900, "c", 1))))
    }
  }

  test("Spark's operators above do not run if no window closes") {
    val by = "GROUP BY k, window_start, window_end"
    val counts = s"SELECT k, count(*) AS n, window_start, window_end FROM ${windows("TUMBLE")} $by"
    val joined = s"SELECT a.window_end, a.k, b.m FROM ($counts) a JOIN (SELECT max(n) AS m, " +
      s"window_start, window_end FROM ($counts) GROUP BY window_start, window_end) b ON " +
      "a.window_start = b.window_start AND a.window_end = b.window_end"
    val ranked =
      "SELECT window_end, k, v, rank() OVER (PARTITION BY window_start, window_end ORDER BY v) " +
        s"AS place FROM ${windows("TUMBLE")}"
    Seq(joined, s"SELECT k, count(*) AS n FROM ($ranked) GROUP BY k").foreach { sql =>
      val stages = new AtomicInteger
      val listener = new SparkListener {
        override def onStageCompleted(stage: SparkListenerStageCompleted): Unit = {
          val _ = stages.incrementAndGet()
        }
      }
      val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "4 seconds"))
      def count(second: Int): Int = {
        fed.feed(Seq(row(second, "a", second)))
        Thread.sleep(300) // until the listener was told
        stages.getAndSet(0)
      }
      fed.start()
      spark.sparkContext.addSparkListener(listener)
      try {
        val _ = Seq(100, 105, 110, 111).map(count)
        // The windows before 120 close after the second 125, and none between 121 and 122.
        val (idle, closes, between) = (count(111), count(125), count(126))
        assert(idle < closes && between == idle, s"$idle, $closes, $between stages: $sql")
        assert(fed.emitted.nonEmpty)
      } finally {
        spark.sparkContext.removeSparkListener(listener)
        fed.stop()
      }
    }
  }

  test("large rows of a session are kept in several entries") {
    val sql = s"SELECT window_end, k, count(DISTINCT input) AS n FROM ${windows("SESSION")} " +
      "GROUP BY window_start, window_end, k"
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "4 seconds"))
    fed.startAs("append", s"SELECT *, '+I' AS op FROM ($sql)")
    try {
      fed.feed((1 to 10).map(i => row(1, "a", i, i.toString * 300000)))
      // The bounds of the session, and 4, 4 and 2 rows.
      assert(fed.running.lastProgress.stateOperators.map(_.numRowsTotal).toSeq == Seq(4L))
      fed.feed(Seq(row(900, "end", 1)))
      fed.feed(Nil)
      assert(fed.emitted.map(_.getAs[Long]("n")) == Seq(10L))
    } finally fed.stop()
  }

  test("two aggregates by the same windows are one, whatever they compute") {
    def stateOf(sql: String) = {
      val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "4 seconds"))
      fed.startAs("append", s"SELECT *, '+I' AS op FROM ($sql)")
      try {
        fed.feed(Seq(row(1, "a", 1), row(2, "b", 2)))
        fed.running.lastProgress.stateOperators.map(_.numRowsTotal).toSeq
      } finally fed.stop()
    }
    val by = "GROUP BY k, window_start, window_end"
    Seq("TUMBLE", "HOP", "SESSION").zipWithIndex.foreach { case (name, i) =>
      val rows = if (name == "SESSION") {
        "SESSION(TABLE(SELECT ts, 'x' AS k, v FROM {t}) PARTITION BY (k), DESCRIPTOR(ts), INTERVAL '4' SECOND)"
      } else windows(name)
      val most =
        "(SELECT max(n) AS most, window_start, window_end FROM (SELECT k, count(*) AS n, " +
          s"window_start, window_end FROM $rows $by) GROUP BY window_start, window_end)"
      val sql = "SELECT a.k, a.n, a.s, b.most, a.window_end FROM (SELECT k, count(*) AS n, " +
        s"sum(v * 2) AS s, max(v) AS m, window_start, window_end FROM $rows $by) a JOIN $most b " +
        "ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.n >= b.most"
      withProvider(providers(i % 2)) {
        closesOnce(sql, random(i + 7, batches = 3))
      }
      assert(stateOf(sql).size == 1, sql)
    }
    // Columns of one value, and a broadcast, for which Spark would read a part too early.
    withConf("spark.sql.autoBroadcastJoinThreshold" -> Long.MaxValue) {
      val rows = windows("TUMBLE")
      closesOnce(
        "SELECT a.window_end, a.n, b.n1, b.n2, b.we, b.k2 FROM (SELECT k, count(*) AS n, window_start, " +
          s"window_end FROM $rows $by) a JOIN (SELECT k, k AS k2, count(*) AS n1, count(*) AS n2, " +
          s"window_start, window_end, window_end AS we FROM $rows $by) b ON a.window_start = " +
          "b.window_start AND a.window_end = b.window_end AND a.k <=> b.k",
        random(12, batches = 3)
      )
    }
    // Other rows, other keys, other windows.
    val counts = s"SELECT k, count(*) AS n, window_start, window_end FROM ${windows("TUMBLE")}"
    def joined(one: String, two: String) =
      s"SELECT a.window_end, a.n, b.n AS m FROM ($one) a JOIN ($two) b ON a.window_start = " +
        "b.window_start AND a.window_end = b.window_end"
    Seq(
      joined(s"$counts $by", s"$counts WHERE v > 2 $by"),
      joined(
        s"$counts $by",
        s"SELECT count(*) AS n, window_start, window_end FROM ${windows("TUMBLE")} " +
          "GROUP BY window_start, window_end"),
      joined(
        s"$counts $by",
        s"SELECT k, count(*) AS n, window_start, window_end FROM ${windows("CUMULATE")} $by")
    ).foreach { sql =>
      assert(stateOf(sql).size == 2, sql)
      closesOnce(sql, random(11, batches = 3))
    }
  }

  test("the keys with most rows of each window: Nexmark's fifth query") {
    val counts =
      s"(SELECT k, count(*) AS n, window_start, window_end FROM ${windows("HOP")} " +
        "GROUP BY k, window_start, window_end)"
    closesOnce(
      s"""SELECT a.k, a.n, a.window_end FROM $counts a JOIN (SELECT max(n) AS most, window_start,
         |window_end FROM $counts GROUP BY window_start, window_end) b ON a.window_start = b.window_start
         |AND a.window_end = b.window_end AND a.n >= b.most""".stripMargin,
      random(4)
    )
  }

  test("windows that close in different micro-batches meet in a join that keeps rows") {
    val counts = "SELECT window_start, window_end, count(*) AS n FROM TUMBLE(TABLE({rows}), " +
      "DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end"
    val orders = "SELECT ts, v FROM {t} WHERE input = 'l'"
    val paid = s"SELECT o.ts, o.v FROM ($orders) o JOIN (SELECT ts AS at, v AS id FROM {t} WHERE " +
      "input = 'r') p ON o.v = p.id AND p.at BETWEEN o.ts AND o.ts + INTERVAL '20' SECOND"
    val sql =
      s"SELECT a.window_start, a.n, b.n AS paid FROM (${counts.replace("{rows}", orders)}) a " +
        s"JOIN (${counts.replace("{rows}", paid)}) b ON a.window_start = b.window_start " +
        "AND a.window_end = b.window_end"
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "0 seconds"))
    fed.startAs("append", s"SELECT *, '+I' AS op FROM ($sql)")
    val told = Seq.newBuilder[Row]
    try Seq(
        Seq(row(1, "", 1), row(5, "", 2), row(6, "", 1, "r")),
        Seq(row(15, "", 3), row(16, "", 2, "r")),
        Seq(row(25, "", 4), row(26, "", 9, "r")),
        Seq(row(95, "", 5), row(95, "", 9, "r")),
        Seq(row(200, "", 6), row(200, "", 9, "r"))
      ).foreach { rows =>
        fed.feed(rows)
        told ++= fed.last
      }
    finally fed.stop()
    assert(told.result() == Seq(Row(new Timestamp(start), 2L, 2L, "+I")))
  }

  test("windows of windows") {
    closesOnce(
      s"""SELECT window_start, window_end, sum(n) AS n FROM TUMBLE(TABLE(SELECT count(*) AS n,
         |window_time FROM ${windows("TUMBLE")} GROUP BY window_start, window_end, window_time),
         |DESCRIPTOR(window_time), INTERVAL '30' SECOND) GROUP BY window_start, window_end""".stripMargin,
      random(5)
    )
  }

  test("row_kind() of an aggregate by windows is an insert, once") {
    val sql =
      "SELECT window_end AS e, window_start, window_end, count(*) AS n, row_kind() AS op FROM " +
        s"(SELECT *, window_end AS again FROM ${windows("TUMBLE")}) GROUP BY window_start, window_end"
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "0 seconds"))
    fed.startAs("append", sql)
    try {
      fed.feed(Seq(row(1, "a", 1)))
      fed.feed(Seq(row(2, "a", 1)))
      assert(fed.emitted.isEmpty)
      fed.feed(Seq(row(20, "a", 1)))
      assert(fed.emitted.map(r => (r.getLong(3), r.getString(4))).toSeq == Seq((2L, "+I")))
    } finally fed.stop()
    val ranked = "SELECT *, row_kind() AS op, row_number() OVER (PARTITION BY window_start, " +
      s"window_end ORDER BY v) AS p FROM ${windows("TUMBLE")}"
    val other = new ChangelogStream(spark, schema, ranked, watermark = Some("ts" -> "0 seconds"))
    intercept[AnalysisException](other.startAs("append", ranked))
  }

  test("rows of a join come at any time, so windows of them answer at once") {
    val sql =
      "SELECT window_start, window_end, count(*) AS n FROM TUMBLE(TABLE(SELECT l.ts, l.k, r.v FROM " +
        "(SELECT * FROM {t} WHERE input = 'l') l JOIN (SELECT * FROM {t} WHERE input = 'r') r ON l.k = r.k), " +
        "DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end"
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "0 seconds"))
    fed.start()
    try Seq(
        Seq(row(1, "a", 1), row(3, "b", 1)),
        Seq(row(50, "a", 1, "r")),
        Seq(row(90, "b", 1, "r"), row(91, "a", 1))).foreach { rows =>
        fed.feed(rows)
        fed.difference.foreach(d => fail(d))
      }
    finally fed.stop()
  }

  test("a table that is empty at first, joined to closed windows") {
    val sql =
      s"SELECT w.n, d.name FROM (SELECT k, count(*) AS n FROM ${windows("TUMBLE")} GROUP BY window_start, " +
        "window_end, k) w JOIN dims d ON w.k = d.k"
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "0 seconds"))
    def started(): Unit = fed.startAs("append", s"SELECT *, '+I' AS op FROM ($sql)")
    spark.sql("SELECT 'a' AS k, 'Anna' AS name WHERE false").createOrReplaceTempView("dims")
    started()
    try {
      fed.feed(Seq(row(1, "a", 1)))
      fed.feed(Seq(row(15, "a", 1)))
      fed.stop()
      spark.sql("SELECT 'a' AS k, 'Anna' AS name").createOrReplaceTempView("dims")
      started()
      fed.feed(Seq(row(25, "a", 1)))
      assert(fed.emitted.map(r => (r.getLong(0), r.getString(1))).toSeq == Seq((1L, "Anna")))
    } finally fed.stop()
  }

  test("complete mode has the windows that are closed") {
    val sql =
      s"SELECT window_end, count(*) AS n FROM ${windows("TUMBLE")} GROUP BY window_start, window_end"
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "0 seconds"))
    fed.startAs("complete", sql)
    try {
      fed.feed(Seq(row(1, "a", 1), row(2, "a", 1), row(12, "a", 1)))
      assert(fed.last.map(_.getLong(1)) == Seq(2L))
      fed.feed(Seq(row(22, "a", 1)))
      assert(fed.last.map(_.getLong(1)).sorted == Seq(1L, 2L))
    } finally fed.stop()
  }

  test("rows that are late are dropped and counted") {
    val sql = aggregate(windows("TUMBLE"))
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "0 seconds"))
    fed.startAs("update", sql)
    try {
      fed.feed(Seq(row(1, "a", 1), row(15, "a", 1)))
      fed.feed(Seq(row(3, "a", 1), row(14, "a", 1)))
      assert(fed.running.lastProgress.stateOperators.map(_.numRowsDroppedByWatermark).sum > 0)
      fed.feed(Seq(row(25, "a", 1)))
      assert(fed.emitted.map(_.getLong(3)).toSeq == Seq(1L, 2L))
    } finally fed.stop()
  }

  test("without a watermark an aggregate emits changes, and append mode refuses it") {
    val sql = aggregate(windows("HOP"))
    val fed = new ChangelogStream(spark, schema, sql)
    fed.start()
    try random(6).foreach { rows =>
        fed.feed(rows)
        fed.difference.foreach(d => fail(d))
      }
    finally fed.stop()
    val other = new ChangelogStream(spark, schema, sql)
    intercept[AnalysisException](other.startAs("append", sql))
  }

  test("wrong arguments are named") {
    spark.range(1).selectExpr(
      "timestamp_seconds(id) AS ts",
      "id").createOrReplaceTempView("seconds")
    Seq(
      "TUMBLE(TABLE(seconds), DESCRIPTOR(ts), INTERVAL '1' MONTH)",
      "TUMBLE(TABLE(seconds), DESCRIPTOR(ts), INTERVAL '0' SECOND)",
      "TUMBLE(TABLE(seconds), ts, INTERVAL '1' SECOND)",
      "TUMBLE(TABLE(seconds), DESCRIPTOR(ts))",
      "HOP(TABLE(seconds), DESCRIPTOR(ts), INTERVAL '3' SECOND, INTERVAL '10' SECOND)",
      "CUMULATE(TABLE(seconds), DESCRIPTOR(ts), INTERVAL '3' SECOND, INTERVAL '10' SECOND)",
      "TUMBLE(TABLE(seconds) PARTITION BY (id), DESCRIPTOR(ts), INTERVAL '1' SECOND)"
    ).foreach { call =>
      val error = intercept[AnalysisException](spark.sql(s"SELECT * FROM $call"))
      assert(error.getCondition == "FIRESTEEL_WRONG_ARGUMENTS", call)
    }
    val column = intercept[AnalysisException](
      spark.sql("SELECT * FROM TUMBLE(TABLE(seconds), DESCRIPTOR(id), INTERVAL '1' SECOND)"))
    assert(column.getCondition == "FIRESTEEL_CHANGELOG_BAD_SOURCE_COLUMN")
  }
}

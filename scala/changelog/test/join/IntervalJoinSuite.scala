package io.firesteel.changelog.join

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}
import io.firesteel.changelog.rules.ExplainStream
import io.firesteel.testkit.TestSize

import java.nio.file.{Files, Paths}
import java.sql.Timestamp

import scala.util.Random

import org.apache.spark.sql.Row
import org.apache.spark.sql.firesteel.executionOf
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.types.StructType

/** Joins whose condition bounds the event times of both sides: state leaves by the watermark. */
class IntervalJoinSuite extends ChangelogSuite {

  private val schema = StructType.fromDDL("ts TIMESTAMP, k STRING, v INT, input STRING")
  private val start = Timestamp.valueOf("2026-01-01 12:00:00").getTime

  private def row(second: Double, k: String, v: Integer, input: String): Row =
    Row(new Timestamp(start + (second * 1000).toLong), k, v, input)

  private def side(input: String, columns: String = "*") =
    s"(SELECT $columns FROM {t} WHERE input = '$input')"

  private def join(joinType: String, condition: String, columns: String): String =
    s"SELECT $columns FROM ${side("l")} l $joinType JOIN ${side("r")} r ON l.k = r.k AND $condition"

  private val types = Seq("INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI")
  private val conditions = Seq(
    "r.ts BETWEEN l.ts AND l.ts + INTERVAL '10' SECOND",
    "r.ts >= l.ts - INTERVAL '5' SECOND AND l.ts > r.ts - INTERVAL '7' SECOND AND l.v >= r.v",
    "l.ts - r.ts > INTERVAL '-3' SECOND AND INTERVAL '4' SECOND >= l.ts - r.ts",
    "l.ts = r.ts",
    "r.ts = l.ts + INTERVAL '6' SECOND",
    "r.ts BETWEEN l.ts + INTERVAL '5' SECOND AND l.ts + INTERVAL '9' SECOND",
    "l.ts < r.ts"
  )

  /** Rows out of order, some of them later than the watermark allows. */
  private def random(seed: Long): Seq[Seq[Row]] = {
    val random = new Random(seed)
    Seq.tabulate(6) { batch =>
      Seq.fill(random.nextInt(24)) {
        val late = if (random.nextInt(8) == 0) 40 else 0
        val time = row(
          batch * 15 + random.nextInt(40) / 2.0 - late,
          if (random.nextInt(8) == 0) null else "ab".substring(random.nextInt(2)).take(1),
          if (random.nextInt(8) == 0) null else random.nextInt(4),
          if (random.nextBoolean()) "l" else "r"
        )
        if (random.nextInt(20) == 0) Row.fromSeq(null +: time.toSeq.tail) else time
      }
    } ++ Seq(1000, 1001).map(second => Seq("l", "r").map(row(second, "end", 0, _)))
  }

  private def feed(fed: ChangelogStream, rows: Seq[Row]): Unit = {
    val watermark = fed.lastWatermark
    fed.feedLate(rows) { row =>
      !row.isNullAt(0) && watermark.exists(!row.getTimestamp(0).after(_))
    }
    fed.difference.foreach(d => fail(s"at $watermark: $d"))
  }

  private def stateRows(fed: ChangelogStream): Long =
    fed.running.lastProgress.stateOperators.map(_.numRowsTotal).sum

  private def follows(sql: String, batches: Seq[Seq[Row]], restart: Int): ChangelogStream = {
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "4 seconds"))
    fed.start()
    try batches.zipWithIndex.foreach { case (rows, i) =>
        feed(fed, rows)
        if (i == restart) fed.restart()
      }
    finally fed.stop()
    fed
  }

  for ((joinType, i) <- types.zipWithIndex)
    test(s"$joinType: the answer of rows that are not late, and state that leaves") {
      val halved = joinType.startsWith("LEFT ")
      val columns = if (halved) "l.*" else "l.ts, l.k, l.v, r.ts AS rts, r.k AS rk, r.v AS rv"
      (0 until TestSize.cases(2, inLong = 60)).foreach { n =>
        val at = n + i
        val condition = conditions(at % conditions.size)
        withClue(s"seed $n, $condition: ") {
          withProvider(providers(at % providers.size)) {
            val fed = follows(join(joinType, condition, columns), random(n + 100L * i), at % 6)
            // Of the rows before the last watermark those stay that have no last match.
            if (condition != "l.ts < r.ts") {
              assert(stateRows(fed) <= 2)
            }
          }
        }
      }
    }

  private val within = join(
    "LEFT",
    "r.ts BETWEEN l.ts AND l.ts + INTERVAL '10' SECOND",
    "l.ts, l.k, l.v, r.ts AS rts")

  for (joinType <- Seq("LEFT", "LEFT SEMI", "LEFT ANTI", "FULL"))
    test(s"$joinType: a match that has left state stays a match") {
      val columns = if (joinType.startsWith("LEFT ")) "l.*" else "l.ts, l.k, r.ts AS rts, r.v"
      val at = "r.ts = l.ts + INTERVAL '60' SECOND"
      follows(
        join(joinType, at, columns),
        Seq(
          Seq(row(0, "a", 1, "l")),
          Seq(row(60, "a", 1, "r"), row(10, "b", 1, "l"), row(10, "b", 1, "r")),
          Seq(row(11, "b", 1, "l")),
          Seq(row(60, "a", 2, "r"))),
        restart = 2
      )
    }

  for (joinType <- types) test(s"$joinType: results of windows leave state with their window") {
    def groups(input: String) =
      s"(SELECT window(ts, '10 seconds') AS w, k, count(*) AS n FROM ${side(input)} GROUP BY 1, 2)"
    val shown = if (joinType.contains(" ")) "a.w.start AS s, a.k, a.n"
    else "a.w.start AS s, a.k, a.n, b.n AS m"
    val sql =
      s"SELECT $shown FROM ${groups("l")} a $joinType JOIN ${groups("r")} b ON a.w = b.w AND a.k = b.k"
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "4 seconds"))
    fed.start()
    try {
      random(joinType.hashCode.toLong).zipWithIndex.foreach { case (rows, i) =>
        val watermark = fed.lastWatermark
        fed.feedLate(rows.filterNot(_.isNullAt(0))) { row =>
          val end = new Timestamp((row.getTimestamp(0).getTime / 10000 + 1) * 10000)
          watermark.exists(!end.after(_))
        }
        fed.difference.foreach(d => fail(s"micro-batch $i: $d"))
        if (i == 1 || i == 4) fed.restart()
      }
      // One group of each side, and the join's entry of their key.
      assert(stateRows(fed) <= 6)
    } finally fed.stop()
  }

  test("groups without a time stay") {
    val groups = "(SELECT ts, k, count(*) AS n FROM {t} GROUP BY ts, k)"
    val sql =
      s"SELECT a.ts, a.k, a.n, b.n AS m FROM $groups a LEFT JOIN $groups b ON a.k = b.k AND a.ts = b.ts"
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "0 seconds"))
    fed.start()
    try Seq(
        Seq(Row(null, "a", 1, "l"), row(0, "a", 1, "l")),
        Seq(row(30, "b", 1, "l")),
        Seq(row(60, "b", 1, "l"), Row(null, "a", 2, "l")),
        Seq(Row(null, "a", 2, "l"), row(90, "b", 1, "l"))
      ).foreach(feedOpen(fed, _))
    finally fed.stop()
  }

  private def feedOpen(fed: ChangelogStream, rows: Seq[Row]): Unit = {
    fed.feed(rows)
    fed.difference.foreach(d => fail(d))
  }

  test("windows above it close, later by as much as a row waits for its match") {
    val sql = s"SELECT window_end, count(*) AS n, count(rts) AS m FROM TUMBLE(TABLE($within), " +
      "DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end"
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "0 seconds"))
    fed.startAs("update", sql)
    def emitted = fed.emitted.map(r => (r.getLong(1), r.getLong(2))).toSeq
    try {
      fed.feed(Seq(row(1, "a", 1, "l"), row(2, "b", 1, "l"), row(9, "a", 1, "l")))
      fed.feed(Seq(row(11, "a", 2, "r"), row(19, "a", 2, "l")))
      fed.feed(Seq(row(19.5, "a", 2, "r")))
      assert(emitted.isEmpty)
      fed.feed(Seq(row(20.5, "b", 2, "r")))
      assert(emitted == Seq((3L, 2L)))
      fed.feed(Seq(row(1000, "b", 2, "r")))
      assert(emitted == Seq((3L, 2L), (1L, 1L)))
    } finally fed.stop()
  }

  test("groups above it close") {
    val sql =
      s"SELECT window(ts, '10 seconds') AS w, count(*) AS n, count(rts) AS m FROM ($within) " +
        "GROUP BY window(ts, '10 seconds')"
    assert(stateRows(follows(sql, random(7), 2)) <= 4)
  }

  test("a checkpoint that began before keeps its rows, and takes late ones") {
    val fed = new ChangelogStream(spark, schema, within, watermark = Some("ts" -> "0 seconds"))
    fed.start()
    try {
      fed.feed(Seq(row(1, "a", 1, "l")))
      fed.stop()
      val record = Paths.get(fed.checkpoint, "state/0/_metadata/firesteel")
      val text = Files.readString(record)
      val columns = "\"columns\":[\"left.k\",\"left.ts\",\"right.ts\",\"row_kind()\",\"v\"]"
      assert(text.contains(columns)) // before, without sides
      val before = text.replace(columns, "\"columns\":[\"k\",\"row_kind()\",\"ts\",\"ts\",\"v\"]")
        .replaceFirst("\"plan\":\\d+", "\"plan\":3")
      assert(before != text)
      Files.writeString(record, before)
      fed.start()
      Seq(row(100, "b", 1, "l"), row(101, "b", 1, "l"), row(2, "a", 1, "r")).foreach { late =>
        fed.feed(Seq(late))
        fed.difference.foreach(d => fail(d))
      }
    } finally fed.stop()
  }

  test("an update moves a time that is over, also where its key is not read") {
    val source = new ChangelogStream.Changes(
      name => s"from_changelog(TABLE($name), op => 'op', keys => array('k'))",
      _.map(change => Row.fromSeq(change.toSeq.init)).groupBy(_.get(1)).values.map(_.last).toSeq
    )
    def side(input: String) = s"(SELECT ts, v FROM {t} WHERE input = '$input') $input"
    val sql = s"SELECT l.v, r.ts FROM ${side("l")} JOIN ${side("r")} ON l.v = r.v " +
      "AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '10' SECOND"
    val fed = new ChangelogStream(
      spark,
      schema.add("op", "string"),
      sql,
      source,
      watermark = Some("ts" -> "0 seconds"))
    fed.start()
    try {
      (1 to 3).foreach { v =>
        feedOpen(
          fed,
          Seq(row(100.0 * v, s"l$v", v, "l"), row(100.0 * v + 5, s"r$v", v, "r")).map(changed))
      }
      feedOpen(fed, Seq(changed(row(400, "l1", 1, "l"))))
    } finally fed.stop()
  }

  private def changed(row: Row): Row = Row.fromSeq(row.toSeq :+ "+U")

  test("in complete mode results of windows stay, as their groups do") {
    def counts(input: String) = "(SELECT window(ts, '10 seconds') AS w, count(*) AS n FROM {t} " +
      s"WHERE input = '$input' GROUP BY window(ts, '10 seconds')) $input"
    val sql = s"SELECT l.w, l.n, r.n AS m FROM ${counts("l")} LEFT JOIN ${counts("r")} ON l.w = r.w"
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "0 seconds"))
    fed.startAs("complete", sql)
    try Seq(
        Seq(row(1, "a", 1, "l"), row(2, "a", 1, "r")),
        Seq(row(31, "a", 1, "l")),
        Seq(row(32, "a", 1, "l")),
        Seq(row(4, "a", 1, "l"), row(15, "a", 1, "l"))
      ).foreach { rows =>
        fed.feed(rows)
        assert(ChangelogStream.bag(fed.last) == ChangelogStream.bag(fed.answer()))
      }
    finally fed.stop()
  }

  test("explain tells when rows leave") {
    spark.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
      .createOrReplaceTempView("rate_rows")
    val query = spark.sql(
      """SELECT l.value, r.value AS other, row_kind() AS op FROM rate_rows l LEFT JOIN rate_rows r ON l.value = r.value
        |AND r.timestamp BETWEEN l.timestamp AND l.timestamp + INTERVAL 1 HOUR""".stripMargin)
    val its =
      ExplainStream(spark, executionOf(query).analyzed, OutputMode.Append()).fired.head.values
    assert(its("left").endsWith(
      "a row leaves when the watermark is at timestamp + INTERVAL '0 01:00:00' DAY TO SECOND"))
    assert(its("right").contains("INTERVAL '0 00:00:00'"))
  }
}

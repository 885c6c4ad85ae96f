package io.firesteel.changelog.windows

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite, RandomChangelogs}
import io.firesteel.changelog.checkpoint.RepartitionState
import io.firesteel.changelog.common.ChangelogConf

import java.sql.Timestamp

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.firesteel.hasEmptyStores
import org.apache.spark.sql.firesteel.streaming.StreamingQueryWrapper
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.scalacheck.Gen
import org.scalacheck.rng.Seed

/** Which queries over overlapping windows are over panes, and what a checkpoint keeps of that. */
class PanesOfQueriesSuite extends ChangelogSuite {

  private val schema = StructType.fromDDL("ts TIMESTAMP, k STRING, v INT")
  private val begin = Timestamp.valueOf("2026-03-01 10:00:00").getTime

  private def row(minute: Double, k: String, v: Integer): Row =
    Row(new Timestamp(begin + (minute * 60000).toLong), k, v)

  private val hour = "window(ts, '1 hour', '5 minutes')"
  private val sums = s"SELECT k, sum(v) AS s, count(*) AS n, $hour AS w FROM {t} GROUP BY k, $hour"

  private def fed(sql: String, prepared: String = "10 minutes"): ChangelogStream =
    new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> prepared))

  private def started(stream: ChangelogStream, sql: String, mode: String = "append"): Unit =
    stream.startAs(mode, s"SELECT *, '+I' AS op FROM ($sql)")

  private def isOverPanes(stream: ChangelogStream): Boolean = {
    val progress = stream.running.recentProgress.filter(_.stateOperators.nonEmpty).last
    val plan = stream.running.asInstanceOf[StreamingQueryWrapper].streamingQuery.lastExecution
      .executedPlan.toString
    progress.stateOperators.head.operatorName.startsWith("changelog") && plan.contains("windows=")
  }

  private def emitted(stream: ChangelogStream): Map[String, Int] =
    ChangelogStream.bag(stream.emitted.map(r => Row.fromSeq(r.toSeq.init)).toSeq)

  private val batches = Seq(
    Seq(row(1, "a", 1), row(3, "b", 2), row(17, "a", 5)),
    Seq(row(75, "a", 7), row(70, null, 9)),
    Seq(row(200, "b", 1)),
    Seq(row(900, "b", 1)))

  /** Feeds all, and checks that the end gives what the batch query gives of the closed windows. */
  private def closes(
      sql: String,
      end: String = "w.end",
      restart: Boolean = true,
      mode: String = "append"): ChangelogStream = {
    val stream = fed(sql)
    started(stream, sql, mode)
    try {
      batches.zipWithIndex.foreach { case (rows, i) =>
        if (restart && i == 2) {
          stream.stop()
          started(stream, sql, mode)
        }
        stream.feed(rows)
      }
      val until = stream.lastWatermark.get
      val wanted = stream.answer(s"SELECT * FROM ($sql) WHERE $end <= TIMESTAMP '$until'")
      assert(wanted.nonEmpty)
      assert(emitted(stream) == ChangelogStream.bag(wanted))
    } finally stream.stop()
    stream
  }

  test("append mode is over panes from the smallest overlap on") {
    Seq(12L -> true, 13L -> false).foreach { case (overlap, panes) =>
      withConf(ChangelogConf.PANES_MIN_OVERLAP.key -> overlap.toString) {
        val stream = fed(sums)
        started(stream, sums)
        try {
          stream.feed(batches.head)
          assert(isOverPanes(stream) == panes)
        } finally stream.stop()
      }
    }
  }

  test("queries that are over panes") {
    Seq(
      sums,
      s"SELECT k, count(DISTINCT v) AS d, w.end AS e, w FROM (SELECT k, v, $hour AS w FROM {t} WHERE v > 1) GROUP BY k, w",
      s"SELECT count(*) AS n, window.end AS e FROM {t} GROUP BY $hour",
      "SELECT max(v) AS m, window.start AS s, window AS w FROM {t} GROUP BY window(ts, '1 hour', '7 minutes')",
      s"SELECT upper(k) AS u, first(v) AS f, window AS w FROM {t} GROUP BY upper(k), $hour HAVING count(*) > 0"
    ).foreach { sql =>
      val end = if (sql.contains("AS e FROM {t}")) "e" else "w.end"
      assert(isOverPanes(closes(sql, end)), sql)
    }
  }

  test("DISTINCT values of rows without a time count in no window") {
    val sql =
      "SELECT k, count(DISTINCT v) AS d, window.end AS e FROM {t} GROUP BY k, window(ts, '10 minutes', '3 minutes')"
    val stream = fed(sql)
    started(stream, sql)
    try {
      stream.feed(Seq(Row(null, "a", 3), row(0, "a", 3)))
      stream.feed(Seq(row(60, "a", 3)))
      assert(stream.emitted.nonEmpty && stream.emitted.forall(_.getLong(1) == 1L))
    } finally stream.stop()
  }

  test("with shuffles kept a query over panes starts again") {
    withConf(ChangelogConf.REMOVE_SHUFFLES.key -> "false") {
      assert(isOverPanes(closes(sums)))
    }
  }

  test("windows of windows: the outer ones wait for the inner ones") {
    closes(
      s"SELECT max(d) AS m, w FROM (SELECT k, count(DISTINCT v) AS d, $hour AS w FROM {t} GROUP BY 1, 3) GROUP BY w")
    val outer =
      "SELECT count(*) AS n, window(t2, '1 hour', '5 minutes').end AS e FROM (SELECT window.start AS t2, " +
        "count(DISTINCT v) AS d, k FROM {t} GROUP BY window(ts, '10 minutes'), k) GROUP BY window(t2, '1 hour', '5 minutes')"
    // Spark marks no event time there, so no watermark closes the outer windows.
    intercept[AnalysisException](started(fed(outer), outer))
  }

  test("the table of a snapshot has windows that are still open") {
    val sql =
      "SELECT o.k, o.v, s.n FROM {t} o JOIN SNAPSHOT(TABLE(SELECT window(ts, '1 hour') AS w, k, count(*) AS n " +
        "FROM {t} GROUP BY 1, 2)) s ON o.k = s.k AND o.ts >= s.w.start AND o.ts < s.w.end"
    val stream = fed(sql)
    started(stream, sql)
    try {
      stream.feed(batches.head)
      assert(stream.emitted.map(_.getLong(2)).sorted == Seq(1L, 2L, 2L))
    } finally stream.stop()
  }

  test("without several stateful operators a query stays Spark's") {
    withConf(SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE.key -> "false") {
      assert(!isOverPanes(closes(sums, restart = false)))
    }
  }

  test("a checkpoint keeps the plan that it began with") {
    Seq("100" -> "2", "2" -> "100").foreach { case (first, second) =>
      val stream = fed(sums)
      try {
        withConf(ChangelogConf.PANES_MIN_OVERLAP.key -> first) {
          started(stream, sums)
          batches.take(2).foreach(stream.feed)
          stream.stop()
        }
        withConf(
          ChangelogConf.PANES_MIN_OVERLAP.key -> second,
          ChangelogConf.PANES.key -> (first == "100").toString) {
          started(stream, sums)
          batches.drop(2).foreach(stream.feed)
          assert(isOverPanes(stream) == (first == "2"))
          assert(
            emitted(stream) == ChangelogStream.bag(stream.answer(
              s"SELECT * FROM ($sums) WHERE w.end <= TIMESTAMP '${stream.lastWatermark.get}'")))
        }
      } finally stream.stop()
    }
  }

  test("a checkpoint over panes with the room switched off, or with other windows, is refused") {
    val stream = fed(sums)
    def refusal(sql: String, settings: (String, Any)*): String =
      try {
        withConf(settings: _*) {
          started(stream, sql)
          stream.feed(batches(2))
        }
        fail("started")
      } catch { case e: Exception => e.getMessage }
      finally stream.stop()
    started(stream, sums)
    stream.feed(batches.head)
    stream.stop()
    assert(refusal(sums, ChangelogConf.ENABLED.key -> "false").contains(ChangelogConf.ENABLED.key))
    val other = sums.replace("'5 minutes'", "'6 minutes'")
    assert(refusal(other).contains("STATE_MISMATCH"))
  }

  test("late rows count in the windows that are open, and are counted where none is") {
    val sql = "SELECT count(*) AS n, window_end AS e FROM HOP(TABLE({t}), DESCRIPTOR(ts), " +
      "INTERVAL '10' MINUTE, INTERVAL '30' MINUTE) GROUP BY window_start, window_end"
    val stream = fed(sql, "0 minutes")
    started(stream, sql)
    try {
      stream.feed(Seq(row(5, "a", 1), row(25, "a", 1)))
      // Windows up to 10:20 have closed. A row of 10:15 counts in those that end at 10:30 and 10:40.
      stream.feed(Seq(row(15, "a", 1), row(-20, "a", 1)))
      assert(stream.running.lastProgress.stateOperators.head.numRowsDroppedByWatermark == 1)
      stream.feed(Seq(row(95, "a", 1)))
      val ends =
        stream.emitted.map(r => (r.getTimestamp(1).getTime - begin) / 60000 -> r.getLong(0)).toMap
      assert(ends == Map(10L -> 1L, 20L -> 1L, 30L -> 3L, 40L -> 2L, 50L -> 1L))
    } finally stream.stop()
  }

  test("windows that change leave state when the watermark closes them, and only then") {
    val sql = s"SELECT k, count(*) AS n, $hour AS w FROM {t} GROUP BY k, $hour"
    val stream = fed(sql)
    started(stream, sql, "update")
    try {
      (0 until 6).foreach(i => stream.feed(Seq(row(i * 90.0, "a", 1), row(i * 90.0 + 7, "a", 1))))
      assert(isOverPanes(stream))
      assert(stream.running.lastProgress.stateOperators.head.numRowsTotal <= 4)
    } finally stream.stop()
    // A watermark of another column closes nothing.
    val other = "SELECT k, count(*) AS n, window(old, '1 hour', '5 minutes') AS w FROM " +
      "(SELECT *, ts - INTERVAL 10 HOURS AS old FROM {t}) GROUP BY k, window(old, '1 hour', '5 minutes')"
    val late = fed(other)
    late.startUpserts(Seq(0, 2))
    try (0 until 4).foreach { i =>
        late.feed(Seq(row(i * 90.0, "a", 1), row(0, "b", 1)))
        late.difference.foreach(d => fail(d))
      }
    finally late.stop()
    // Groups that it closes by another time are no panes.
    val arrived = "SELECT a, count(*) AS n, window(old, '1 hour', '5 minutes') AS w FROM " +
      "(SELECT window(ts, '1 hour') AS a, ts - INTERVAL 10 HOURS AS old FROM {t}) " +
      "GROUP BY a, window(old, '1 hour', '5 minutes')"
    val closed = fed(arrived)
    closed.startAs("update", arrived)
    try {
      (0 until 4).foreach(i => closed.feed(Seq(row(i * 90.0, "a", 1))))
      closed.feed(Seq(row(0, "b", 1)))
      val last = closed.running.recentProgress.flatMap(_.stateOperators)
      assert(last.map(_.numRowsDroppedByWatermark).sum > 0L)
      assert(last.last.numRowsTotal <= 24L)
    } finally closed.stop()
  }

  test("queries in update mode whose windows change") {
    Seq(
      s"SELECT k, max(v) AS m, w FROM (SELECT k, v, $hour AS w FROM {t}) GROUP BY k, w",
      s"SELECT k, count(*) AS n, w FROM (SELECT k, v, $hour AS w FROM {t}) WHERE v > 1 GROUP BY k, w",
      s"SELECT * FROM ($sums) WHERE w.end > TIMESTAMP '2026-03-01 10:30:00'",
      s"SELECT k, sum(v) AS s, window.end AS e FROM {t} GROUP BY k, $hour",
      "SELECT k, sum(v) AS s, window_start, window_end FROM HOP(TABLE(SELECT k, v, date_trunc('minute', ts) AS at " +
        "FROM {t}), DESCRIPTOR(at), INTERVAL '5' MINUTE, INTERVAL '1' HOUR) GROUP BY k, window_start, window_end",
      "SELECT k, sum(v) AS s, window_end FROM CUMULATE(TABLE(SELECT k, v, date_trunc('minute', ts) AS at " +
        "FROM {t}), DESCRIPTOR(at), INTERVAL '5' MINUTE, INTERVAL '1' HOUR) GROUP BY k, window_start, window_end"
    ).foreach { sql =>
      val stream = fed(sql)
      stream.startUpserts(if (sql.startsWith("SELECT *")) Seq(0, 3) else Seq(0, 2))
      try {
        // The last two micro-batches close everything, and their rows change other windows.
        batches.foreach { rows =>
          stream.feed(rows)
          stream.difference.foreach(d => fail(s"$sql $d"))
        }
        assert(isOverPanes(stream), sql)
      } finally stream.stop()
    }
  }

  test("the schema of a window is that of Spark") {
    val (own, stock) = (fed(sums), fed(sums))
    def schemaOf(stream: ChangelogStream, on: String): String =
      withConf(ChangelogConf.PANES.key -> on) {
        var schema = ""
        val query = spark.sql(stream.reading(sums)).writeStream.outputMode("append").foreachBatch {
          (batch: DataFrame, _: Long) =>
            schema = batch.schema.json
            val _ = batch.collect()
        }.start()
        stream.add(Seq(row(1, "a", 1)))
        query.processAllAvailable()
        query.stop()
        schema.replaceAll("\"nullable\":(true|false),?", "")
      }
    assert(schemaOf(own, "true") == schemaOf(stock, "false"))
  }

  test("a time to live has no effect on windows that Spark could run") {
    val stream = fed(sums)
    started(stream, sums, "update")
    try {
      stream.feed(batches.head)
      stream.stop()
      withConf(ChangelogConf.STATE_TTL.key -> "1d") {
        started(stream, sums, "update")
        stream.feed(batches(1))
        assert(isOverPanes(stream))
      }
    } finally stream.stop()
  }

  test("windows over rows that change, without a watermark") {
    val sql =
      "SELECT g, window.start AS s, window.end AS e, count(*) AS n, sum(v) AS t, avg(w) AS a FROM " +
        "(SELECT *, timestamp_seconds(id % 1000 * 20) AS at FROM {t}) GROUP BY g, window(at, '10 minutes', '1 minute')"
    (1 to 4).foreach { n =>
      val batches = RandomChangelogs.fullBatches.pureApply(Gen.Parameters.default, Seed(n.toLong))
      assertFollows(RandomChangelogs.schema, sql, batches, Set(2), RandomChangelogs.full)
    }
  }

  test("windows of a key that has not changed are not told again when state is split") {
    withConf(SQLConf.SHUFFLE_PARTITIONS.key -> 1) {
      val stream = fed(sums)
      started(stream, sums)
      try {
        // Of one partition one entry has the time of the last closing, whichever key is its own.
        stream.feed(Seq("a", "b", "c", "d", "e", "f").map(row(1, _, 1)))
        (0 until 5).foreach(i => stream.feed(Seq(row(20.0 + 5 * i, "a", 1))))
        stream.stop()
        RepartitionState(spark, stream.checkpoint, 5)
        started(stream, sums)
        Seq(45, 48, 200).foreach(minute => stream.feed(Seq(row(minute.toDouble, "b", 1))))
        val until = stream.lastWatermark.get
        val wanted = stream.answer(s"SELECT * FROM ($sums) WHERE w.end <= TIMESTAMP '$until'")
        assert(emitted(stream) == ChangelogStream.bag(wanted))
      } finally stream.stop()
    }
  }

  providers.filter(_ == hdfs || hasEmptyStores).foreach { provider =>
    test(s"state over panes is split into other partitions, ${provider.split('.').last}") {
      withProvider(provider) {
        val sql =
          s"SELECT k, count(DISTINCT v) AS d, max(v) AS m, sum(v) AS s, $hour AS w FROM {t} GROUP BY k, $hour"
        val stream = fed(sql)
        started(stream, sql)
        try {
          batches.take(2).foreach(stream.feed)
          stream.stop()
          RepartitionState(spark, stream.checkpoint, 5)
          started(stream, sql)
          batches.drop(2).foreach(stream.feed)
          assert(
            emitted(stream) == ChangelogStream.bag(stream.answer(
              s"SELECT * FROM ($sql) WHERE w.end <= TIMESTAMP '${stream.lastWatermark.get}'")))
        } finally stream.stop()
      }
    }
  }
}

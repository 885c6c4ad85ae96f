package io.firesteel.changelog.windows

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}
import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.testkit.TestSize

import java.sql.Timestamp

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

/**
 * Aggregates over overlapping windows, which are kept in panes. After every micro-batch the rows
 * that were emitted are those of the windows that the watermark has closed, each over the rows that
 * were not late for it.
 */
class OverlappingWindowsSuite extends ChangelogSuite {
  import OverlappingWindowsSuite._

  private val schema =
    StructType.fromDDL("ts TIMESTAMP, k STRING, v INT, f DOUBLE, d DECIMAL(30, 3), s STRING")

  private val calls = Seq(
    "count(*)",
    "count(v)",
    "sum(v)",
    "avg(v)",
    "sum(f)",
    "avg(d)",
    "sum(d)",
    "min(v)",
    "max(s)",
    "min(f)",
    "count(DISTINCT v)",
    "sum(DISTINCT v)",
    "count(DISTINCT s, v)",
    "count(v) FILTER (WHERE v > 2)",
    "sort_array(collect_list(v))",
    "sort_array(collect_set(s))",
    "round(stddev(v), 6)",
    "bool_or(v = 3)",
    "approx_count_distinct(v)",
    "max_by(v, struct(ts, v))",
    "percentile(v, 0.5)"
  )

  /** Calls whose windows may change: of these a window's result does not depend on how panes are merged. */
  private val changing = calls.take(10) ++ Seq("max(f)", "max(d)", "count(v) FILTER (WHERE v > 2)")

  private def row(random: Random, at: Long): Row = {
    def orNull[A](value: => A): Any = if (random.nextInt(7) == 0) null else value
    val floats = Seq(0.0, -0.0, Double.NaN, 0.1, 3.5, 1e10, Double.PositiveInfinity)
    Row(
      if (random.nextInt(40) == 0) null else new Timestamp(at),
      orNull(Seq("a", "A", "b", "c")(random.nextInt(4))),
      orNull(random.nextInt(6)),
      orNull(floats(random.nextInt(floats.size))),
      orNull(new java.math.BigDecimal(random.nextInt(1000)).movePointLeft(random.nextInt(3))),
      orNull(Seq("x", "y", "zz", "")(random.nextInt(4)))
    )
  }

  /** Micro-batches whose times advance, with rows out of order, late ones and gaps. */
  private def batches(random: Random, unit: Long): Seq[Seq[Row]] = {
    var now = epoch + random.nextInt(1000) * unit
    Seq.fill(4 + random.nextInt(5)) {
      now += unit * (if (random.nextInt(5) == 0) 60 + random.nextInt(60) else random.nextInt(12))
      Seq.fill(if (random.nextInt(6) == 0) 0 else random.nextInt(25)) {
        row(random, now - (unit * 20 * math.pow(random.nextDouble(), 3)).toLong)
      }
    } :+ Seq(row(random, now + 1000 * unit).toSeq.updated(0, new Timestamp(now + 1000 * unit)))
      .map(Row.fromSeq)
  }

  /**
   * @param windows SQL of the windows' table, with the columns `window_start` and `window_end`
   * @param of start and end of each window of a time, in milliseconds
   */
  private case class Windows(windows: String, from: String, of: Long => Seq[(Long, Long)])

  private def hop(size: Long, slide: Long, offset: Long): Long => Seq[(Long, Long)] = at => {
    val newest = at - Math.floorMod(at - offset, slide)
    Iterator.iterate(newest)(_ - slide).takeWhile(_ + size > at).map(s => (s, s + size)).toSeq
  }

  private def random(random: Random): Windows = {
    val (step, times, offset) = (1000L * (1 + random.nextInt(3)), 2 + random.nextInt(9), 0L)
    def text(ms: Long) = s"'$ms milliseconds'"
    random.nextInt(4) match {
      case 0 =>
        val size = step * times
        Windows(
          "window_start, window_end",
          s"HOP(TABLE({t}), DESCRIPTOR(ts), ${text(step)}, ${text(size)}, ${text(500)})",
          hop(size, step, 500))
      case 1 =>
        val size = step * times
        Windows(
          "window_start, window_end",
          s"CUMULATE(TABLE({t}), DESCRIPTOR(ts), ${text(step)}, ${text(size)})",
          at => {
            val start = at - Math.floorMod(at, size)
            val first = at - Math.floorMod(at, step) + step
            (first to start + size by step).map(start -> _)
          }
        )
      case more =>
        // A size that is no multiple of the slide, too.
        val size = step * times + (if (more == 2) 300 else 0)
        val start = if (random.nextBoolean()) 700L else 0L
        Windows(
          s"window(ts, ${text(size)}, ${text(step)}, ${text(start)})",
          "{t}",
          hop(size, step, start))
    }
  }

  /** @param emits windows at their close, the changes of open windows, or the newest row of each */
  private def check(
      seed: Int,
      batches: Seq[Seq[Row]],
      windows: Windows,
      keys: Seq[String],
      calls: Seq[String],
      emits: String): Unit = {
    val named = calls.zipWithIndex.map { case (call, i) => s"$call AS c$i" }
    val isTable = windows.from != "{t}"
    val bounds = if (isTable) "window_start AS ws, window_end AS we"
    else "window.start AS ws, window.end AS we"
    val (atClose, kind) = (emits == "at close", if (emits == "changes") "row_kind()" else "'+I'")
    val sql = s"SELECT ${(keys ++ named :+ bounds).mkString(", ")} FROM ${windows.from} GROUP BY " +
      (windows.windows +: keys).mkString(", ")
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "5 seconds"))
    val accepted = Seq.newBuilder[Row]
    def started() = fed.startAs(
      if (emits == "upserts") "update" else "append",
      s"SELECT *, $kind AS op FROM ($sql)")
    started()
    val places = new Random(seed)
    try batches.zipWithIndex.foreach { case (rows, i) =>
        if (places.nextInt(3) == 0) {
          val _ = fed.lastWatermark
          fed.stop()
          started()
        }
        val late = if (i == 0) 0L else fed.lastWatermark.fold(0L)(_.getTime)
        if (rows.nonEmpty && places.nextInt(4) == 0) {
          // State is committed, and the micro-batch is not: it runs once more.
          fed.failsNext = true
          intercept[Exception](fed.feed(rows))
          fed.stop()
          started()
          fed.running.processAllAvailable()
        } else fed.feed(rows)
        for {
          row <- rows if !row.isNullAt(0)
          (start, end) <- windows.of(row.getTimestamp(0).getTime) if end > late
        } accepted += Row.fromSeq(row.toSeq ++ Seq(new Timestamp(start), new Timestamp(end)))
        val closed = if (atClose) fed.lastWatermark.fold(0L)(_.getTime) else Long.MaxValue
        spark.createDataFrame(
          accepted.result().asJava,
          StructType.fromDDL(schema.toDDL + ", ws TIMESTAMP, we TIMESTAMP")
        ).createOrReplaceTempView("accepted")
        val wanted = spark.sql(
          s"SELECT ${(keys ++ named ++ Seq("ws", "we")).mkString(", ")} FROM accepted " +
            s"WHERE unix_millis(we) <= $closed GROUP BY ${(keys ++ Seq("ws", "we")).mkString(", ")}"
        ).collect().toSeq
        val (has, should) =
          (folded(fed.emitted.toSeq, emits, keys.size), ChangelogStream.bag(wanted))
        assert(
          has == should,
          s"seed $seed, micro-batch $i, $sql\nonly emitted: ${(has.toSet -- should).take(5)}\n" +
            s"missing: ${(should.toSet -- has).take(5)}")
      }
    finally fed.stop()
    val operators = fed.running.recentProgress.toSeq.flatMap(_.stateOperators.map(_.operatorName))
    val _ = assert(
      fed.emitted.nonEmpty && operators.forall(_.startsWith("changelogAggregate")),
      operators)
  }

  /** The table that a consumer has of what was emitted. */
  private def folded(emitted: Seq[Row], emits: String, keys: Int): Map[String, Int] = {
    def bare(row: Row) = Row.fromSeq(row.toSeq.init)
    emits match {
      case "upserts" =>
        def key(row: Row) =
          ChangelogStream.text(Row.fromSeq(row.toSeq.take(keys) ++ row.toSeq.takeRight(3).init))
        ChangelogStream.bag(emitted.groupBy(key).values.map(rows => bare(rows.last)).toSeq)
      case _ =>
        val signed = emitted.map { row =>
          ChangelogStream.text(bare(row)) -> (if (row.getString(row.length - 1).startsWith("-")) -1
                                              else 1)
        }
        signed.groupMapReduce(_._1)(_._2)(_ + _).filter(_._2 != 0)
    }
  }

  private def checkRandom(
      provider: String,
      cases: Int,
      seed: Long,
      calls: Seq[String],
      keys: Seq[String],
      emits: String): Unit = withProvider(provider) {
    (0 until TestSize.cases(cases)).map(_ + TestSize.seed(seed).toInt).foreach { seed =>
      val random = new Random(seed)
      val windows = Iterator.continually(this.random(random))
        .find(its => emits == "at close" || its.from == "{t}").get
      withConf(
        ChangelogConf.PANES_MIN_OVERLAP.key -> "2",
        ChangelogConf.MAX_BUFFERED_ROWS.key -> (if (random.nextInt(3) == 0) "5" else "1000000")) {
        check(
          seed,
          batches(random, 1000L),
          windows,
          random.shuffle(keys).take(random.nextInt(3)),
          random.shuffle(calls).take(1 + random.nextInt(4)),
          emits)
      }
    }
  }

  providers.foreach { provider =>
    val name = provider.split('.').last
    Seq("changes", "upserts").foreach { emits =>
      test(s"random windows that change, $emits, $name") {
        checkRandom(provider, cases = 3, seed = 100L, changing, Seq("k", "s"), emits)
      }
    }
    test(s"random windows at their close, $name") {
      checkRandom(provider, cases = 5, seed = 1L, calls, Seq("k", "v % 2", "s"), "at close")
    }
  }
}

private object OverlappingWindowsSuite {
  private val epoch = Timestamp.valueOf("2026-03-29 00:10:00").getTime
}

package io.firesteel.bench

import java.nio.file.Path
import java.util.concurrent.atomic.AtomicLong

import scala.util.Try

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

/** Runs queries of TPC-H over streams, in turn with Flink. */
final class TpchRunner(
    spark: SparkSession,
    flink: FlinkProcess,
    files: TpchFiles,
    scratch: Path,
    progress: Progress,
    pairs: Int) {

  private val jobs = new TpchFlink(files)
  private val tasks = new TaskLog(spark.sparkContext)

  def run(query: String): TpchResult = {
    val sql = TpchFiles.unordered(TpchTables.sql(query))
    files.registerTables()
    val truth = Contestant("", "", Map("spark.firesteel.enabled" -> "false")).within(spark) {
      spark.sql(sql).count()
    }
    files.registerStreams(TpchMain.filesPerBatch)
    val once = progress.step(s"$query: rows of firesteel")(rows(sql))
    agree(query, truth, StreamingContestant.firesteel, once.rows)
    val theirs = progress.step(s"$query: rows of Flink")(Try(flink.checksum(jobs.rows(query)).rows))
    theirs.foreach(agree(query, truth, StreamingContestant.flink, _))
    val ours = StreamingContestant.firesteel -> (() => time(sql))
    val two =
      if (theirs.isFailure) Seq(ours)
      else Seq(ours, StreamingContestant.flink -> (() => flink.time(jobs.timed(query))))
    // The first round warms both up.
    val runs = (0 to pairs).flatMap { i =>
      val round = progress.stepWithOutcome(s"$query: round $i") {
        Rounds.order(two, i).map { case (name, timed) => name -> timed() }
      }(_.map { case (name, run) => f"$name ${run.seconds}%.2f" }.mkString("(", ", ", ")"))
      if (i == 0) Nil else round
    }
    TpchResult(
      query,
      truth,
      once.batches,
      Rounds(runs.groupMap(_._1)(_._2)),
      theirs.toEither.left.map(TpchRunner.firstLine).map(_ => flink.plan(jobs.timed(query))),
      once.operators
    )
  }

  private def time(sql: String): Run = ScratchCheckpoint.in(scratch) { checkpoint =>
    System.gc()
    tasks.time(start(sql, checkpoint, _.format("noop")).awaitTermination())
  }

  private case class Once(rows: Long, batches: Int, operators: Seq[String])

  private def rows(sql: String): Once = ScratchCheckpoint.in(scratch) { checkpoint =>
    val rows = new AtomicLong
    val running = start(
      sql,
      checkpoint,
      _.foreachBatch { (batch: DataFrame, _: Long) =>
        val change = batch.selectExpr("coalesce(sum(IF(op IN ('+I', '+U'), 1L, -1L)), 0L)")
        val _ = rows.addAndGet(change.head().getLong(0))
      }
    )
    running.awaitTermination()
    Once(
      rows.get,
      running.recentProgress.count(_.numInputRows > 0),
      OurStream.operators(running))
  }

  private type Writer = org.apache.spark.sql.streaming.DataStreamWriter[org.apache.spark.sql.Row]

  private def start(sql: String, checkpoint: Path, sink: Writer => Writer): StreamingQuery =
    sink(spark.sql(s"SELECT *, row_kind() AS op FROM ($sql)").writeStream)
      .option("checkpointLocation", checkpoint.toString)
      .trigger(Trigger.AvailableNow)
      .start()

  private def agree(query: String, truth: Long, who: String, found: Long): Unit =
    if (found != truth) {
      throw new WrongAnswer(s"$query: the batch query has $truth rows, $who $found")
    }
}

private object TpchRunner {
  def firstLine(error: Throwable): String =
    Option(error.getMessage).getOrElse(error.toString).linesIterator
      .map(_.trim).filter(_.nonEmpty).take(1).mkString
}

package io.firesteel.bench

import java.nio.file.Path

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.Trigger

/** Queries of TPC-H over streams: the last micro-batch beside the batch query over all rows. */
final class LastBatches(
    spark: SparkSession,
    scratch: Path,
    progress: Progress,
    arguments: Arguments) {
  import LastBatches._

  private val tasks = new TaskLog(spark.sparkContext)
  private val files = new TpchFiles(spark, arguments.data, scale, TpchMain.parts, progress)

  def run(): Seq[Figure] = {
    files.make()
    for {
      query <- queries
      (provider, settings) <- FigureResults.providers
    } yield {
      val sql = TpchFiles.unordered(TpchTables.sql(query))
      val all = (-warmUps until arguments.pairs).flatMap { i =>
        val round = progress.stepWithOutcome(s"$query, $provider: round ${i + 1}") {
          Rounds.order(Seq(last -> (() => streamed(sql, settings)), batch -> (() => whole(sql))), i)
            .map { case (name, seconds) => name -> seconds() }
        }(_.map { case (name, seconds) => f"$name $seconds%.3f" }.mkString("(", ", ", ")"))
        if (i < 0) Nil else round
      }
      Figure(name, query, provider, last, batch, FigureResults.rounds(all), Bound.AtMost(0.5))
    }
  }

  private def whole(sql: String): Double = {
    files.registerTables()
    Contestant("", sql, Map("spark.firesteel.enabled" -> "false")).within(spark) {
      System.gc()
      tasks.time(spark.sql(sql).write.format("noop").mode("overwrite").save()).seconds
    }
  }

  /** The seconds of the second of two micro-batches. */
  private def streamed(sql: String, settings: Map[String, String]): Double = {
    files.registerStreams(TpchMain.parts - TpchMain.filesPerBatch)
    ScratchCheckpoint.in(scratch) { checkpoint =>
      Contestant("", "", settings).within(spark) {
        System.gc()
        val query = spark.sql(s"SELECT *, row_kind() AS op FROM ($sql)").writeStream
          .format("noop").outputMode("append")
          .option("checkpointLocation", checkpoint.toString)
          .trigger(Trigger.AvailableNow).start()
        query.awaitTermination()
        val batches = query.recentProgress.filter(_.numInputRows > 0)
        if (batches.length != 2) sys.error(s"${batches.length} micro-batches")
        batches.last.durationMs.get("triggerExecution") / 1e3
      }
    }
  }
}

object LastBatches {

  val name: String = "tpc-h"

  private val scale = 1.0
  private val warmUps = 1
  private val queries = Seq("q1", "q3", "q5", "q6", "q10", "q12", "q14", "q19")
  private val (last, batch) = ("last micro-batch", "batch query")

  val note: String =
    s"""Queries of TPC-H at scale $scale, with every table but region and nation as a stream. The last
       |micro-batch has a tenth of the rows of each; the batch query is stock Spark's over all rows.""".stripMargin
}

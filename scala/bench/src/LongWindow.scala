package io.firesteel.bench

import java.nio.file.Path
import java.util.concurrent.atomic.AtomicReference

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.streaming.Trigger

/**
 * Sliding windows over readings that come in the order of their times.
 *
 * @param size as Spark and Flink write an interval, as is `slide`
 * @param days that the readings cover, with as many rows in each hour
 */
final case class LongWindow(size: String, slide: String, days: Int) {

  def title: String = s"$size by $slide"

  def table(rows: Long): Table = Table(
    s"readings_over_$days",
    rows,
    Seq(
      "ts" -> s"1700000000000 + CAST(id * ${days * 86400000.0 / rows} AS BIGINT)",
      "k" -> s"pmod(xxhash64(id, 1), ${LongWindow.keys})",
      "v" -> "pmod(xxhash64(id, 3), 100000)"
    ),
    LongWindow.batches
  )
}

object LongWindow {

  val keys: Int = 100

  /** Micro-batches with rows; one without follows, which closes windows. */
  val batches: Int = 4

  val day: LongWindow = LongWindow("24 hours", "1 hour", 30)
  val week: LongWindow = LongWindow("7 days", "1 hour", 30)
  val month: LongWindow = LongWindow("30 days", "10 minutes", 60)
}

/** Runs queries over the readings as streams. */
final class ReadingStreams(spark: SparkSession, scratch: Path) {

  private val tasks = new TaskLog(spark.sparkContext)

  def register(files: StreamedFiles): Unit =
    files.stream(spark, perBatch = 1)
      .selectExpr("timestamp_millis(ts) AS at", "k", "v")
      .withWatermark("at", "1 minute")
      .createOrReplaceTempView("readings")

  def time(sql: String): Run = ScratchCheckpoint.in(scratch) { checkpoint =>
    System.gc()
    tasks.time {
      spark.sql(sql).writeStream.format("noop").outputMode("append")
        .option("checkpointLocation", checkpoint.toString)
        .trigger(Trigger.AvailableNow).start().awaitTermination()
    }
  }

  /** The sum of all that was emitted, of whole numbers. */
  def answer(sql: String, columns: Seq[String]): Checksum = ScratchCheckpoint.in(scratch) {
    checkpoint =>
      val sum = new AtomicReference(Checksum.none)
      spark.sql(sql).writeStream.outputMode("append")
        .option("checkpointLocation", checkpoint.toString)
        .trigger(Trigger.AvailableNow)
        .foreachBatch { (batch: DataFrame, _: Long) =>
          batch.createOrReplaceTempView("closed")
          val query = Checksum.of(columns, "closed")
          val closed = Checksum.read(batch.sparkSession.sql(query).head())
          val _ = sum.updateAndGet(_ + closed)
        }.start().awaitTermination()
      sum.get
  }
}

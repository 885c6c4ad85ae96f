package io.firesteel.bench

import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.AtomicReference

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.streaming.StreamingQuery

/**
 * A running stream that receives one file for each micro-batch.
 *
 * @param table the table whose ids the files contain
 * @param answer columns of the result, for [[Checksum]]
 */
final class FedStream(
    spark: SparkSession,
    folder: Path,
    table: Table,
    sql: String,
    answer: Seq[String])
  extends AutoCloseable {

  private val files = folder.resolve("in")
  private val making = folder.resolve("making")
  private val sum = new AtomicReference(Checksum.none)
  private var fed = 0

  Files.createDirectories(files)

  private val query: StreamingQuery = {
    spark.readStream
      .schema(table.some(spark, 0, 1, 1).schema)
      .option("maxFilesPerTrigger", 1L)
      .parquet(files.toString)
      .createOrReplaceTempView(table.name)
    spark
      .sql(s"SELECT *, row_kind() AS op FROM ($sql)")
      .writeStream
      .outputMode("append")
      .option("checkpointLocation", folder.resolve("checkpoint").toString)
      .foreachBatch { (batch: DataFrame, _: Long) =>
        val changed = Checksum.read(batch.selectExpr(Checksum.ofChanges(answer, "op"): _*).head())
        val _ = sum.updateAndGet(_ + changed)
      }
      .start()
  }

  /** Writes ids `from` to `to` as one file, and returns the seconds of its micro-batch. */
  def feed(from: Long, to: Long): Double = {
    table.some(spark, from, to, 1).write.mode("overwrite").parquet(making.toString)
    fed += 1
    Files.move(written, files.resolve(s"$fed.parquet"))
    query.processAllAvailable()
    val batch = query.recentProgress.reverseIterator
      .find(_.numInputRows == to - from)
      .getOrElse(sys.error(s"no micro-batch has read the ${to - from} rows"))
    batch.durationMs.get("triggerExecution") / 1e3
  }

  /** The checksum of a consumer of the changelog. */
  def checksum: Checksum = sum.get

  /** The checksum of the batch query over the same files. */
  def truth: Checksum = {
    spark.read.parquet(files.toString).createOrReplaceTempView(table.name)
    Checksum.read(spark.sql(Checksum.of(answer, s"($sql)")).head())
  }

  /** Rows in state and stateful operators after the last micro-batch. */
  def state: (StateSize, Int) = {
    val operators = query.lastProgress.stateOperators
    val size = StateSize(operators.map(_.numRowsTotal).sum, operators.map(_.memoryUsedBytes).sum)
    (size, operators.length)
  }

  private def written: Path =
    Using.resource(Files.list(making))(_.iterator.asScala.find(_.toString.endsWith(".parquet")).get)

  override def close(): Unit = {
    query.stop()
    StateStore.stop()
    WholeFolder.delete(folder)
  }
}

package io.firesteel.bench

import java.nio.file.Path

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.types.StructType

/** The files of a table that both engines read: `csv` or `parquet`. */
final case class StreamedFiles(folder: Path, format: String, schema: StructType) {

  /** All of them at once. */
  def batch(spark: SparkSession): DataFrame =
    spark.read.schema(schema).format(format).load(folder.toString)

  /** Some files in each micro-batch. */
  def stream(spark: SparkSession, perBatch: Int): DataFrame =
    spark.readStream
      .schema(schema)
      .option("maxFilesPerTrigger", perBatch.toLong)
      .format(format)
      .load(folder.toString)
}

object StreamedFiles {

  val formats: Seq[String] = Seq("csv", "parquet", "json")

  def make(
      spark: SparkSession,
      data: DataFolder,
      table: Table,
      format: String): StreamedFiles =
    StreamedFiles(data.make(spark, table, format), format, table.some(spark, 0, 1, 1).schema)
}

package io.firesteel.bench

import java.nio.file.{Files, Path}

import org.apache.spark.sql.{DataFrame, SparkSession}

/**
 * The readings as Parquet files, twice: for firesteel in the order of their times, one file after
 * the other, and for Flink in one file for each of its two tasks. Flink reads files in the order of
 * the folder, which is none of time.
 */
final class OverFiles(spark: SparkSession, data: Path, progress: Progress) {

  private val tasks = 2

  def inOrder(table: Table): StreamedFiles =
    make(table, table.files.toString, table.files) { part =>
      def border(of: Int): Long = table.rows * of / table.files
      table.some(spark, border(part - 1), border(part), 1)
    }

  /** Half of the rows in each file, in the order of their times; by a column of whole numbers. */
  def forTasks(table: Table, by: String = "ts"): StreamedFiles = make(table, "tasks", tasks) {
    part => table.some(spark, 0, table.rows, 1).where(s"$by % $tasks = ${part - 1}")
  }

  private def make(
      table: Table,
      name: String,
      files: Int)(rows: Int => DataFrame): StreamedFiles = {
    val folder = data.toAbsolutePath.resolve(s"${table.name}-${table.rows}-$name")
    if (!Files.isDirectory(folder)) {
      progress.step(s"making ${folder.getFileName}")(WholeFolder.make(folder) { making =>
        Files.createDirectories(making)
        (1 to files).foreach(part => OrderedFiles.write(rows(part), making, part))
      })
    }
    StreamedFiles(folder, "parquet", table.some(spark, 0, 1, 1).schema)
  }
}

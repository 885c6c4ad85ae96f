package io.firesteel.bench

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using
import scala.util.hashing.MurmurHash3

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.col

/**
 * Generated tables as Parquet, made once and kept.
 *
 * The name of a table's folder contains everything that decides its content. The folder is written
 * under another name and then renamed, so a folder of the final name is always complete.
 */
final class DataFolder(folder: Path, progress: Progress) {

  // Spark resolves a table's relative path against its warehouse.
  private val root = folder.toAbsolutePath

  /** Increased when tables are written in another way and their descriptions stay the same. */
  private val generatorVersion = 1

  private val parquet = "parquet"

  /** Small, so two tasks can share a table of one file. */
  private val rowGroupBytes = 16L << 20

  /** Makes `table` if it does not exist, and returns its folder. */
  def make(spark: SparkSession, table: Table, format: String = parquet): Path = {
    val as = if (format == parquet) "" else s"-$format"
    val folder = root.resolve(folderName(table) + as)
    if (!Files.isDirectory(folder)) {
      progress.step(f"making table ${table.name}, ${table.rows}%,d rows") {
        WholeFolder.make(folder)(write(spark, table, format, _))
      }
    }
    folder
  }

  /** Makes `table` if it does not exist, and lets queries read it by its name. */
  def register(spark: SparkSession, table: Table): Unit = {
    val folder = make(spark, table, if (table.lines.isEmpty) parquet else "text")
    for (schema <- table.lines) {
      spark.read.schema(schema).json(folder.toString).createOrReplaceTempView(table.name)
    }
    if (table.lines.isEmpty) table.buckets match {
      case None => spark.read.parquet(folder.toString).createOrReplaceTempView(table.name)
      case Some(buckets) => registerBucketed(spark, table.name, buckets, folder)
    }
  }

  private def folderName(table: Table): String = {
    val hash = MurmurHash3.stringHash(s"$generatorVersion ${table.content}")
    f"${table.name}-${table.rows}-$hash%08x"
  }

  private def write(spark: SparkSession, table: Table, format: String, part: Path): Unit = {
    val rows = table.some(spark, 0, table.rows, table.files)
    table.buckets match {
      case None =>
        rows.write
          .option("parquet.block.size", rowGroupBytes)
          .format(format)
          .save(part.toString)
      case Some(buckets) =>
        val making = s"making_${table.name}"
        rows
          .repartition(buckets.number, col(buckets.by))
          .write
          .bucketBy(buckets.number, buckets.by)
          .sortBy(buckets.by, buckets.sortedBy)
          .option("path", part.toString)
          .saveAsTable(making)
        spark.sql(s"DROP TABLE $making") // external: its files stay
        checkFiles(part, buckets.number)
    }
  }

  /**
   * Spark trusts the order inside a bucket only if the bucket is one file. An empty one has none.
   */
  private def checkFiles(folder: Path, buckets: Int): Unit = {
    val found = Using.resource(Files.list(folder)) { files =>
      files.iterator.asScala.count(_.toString.endsWith(".parquet"))
    }
    if (found > buckets) sys.error(s"$found files for $buckets buckets in $folder")
  }

  private def registerBucketed(
      spark: SparkSession,
      name: String,
      buckets: Buckets,
      folder: Path): Unit = {
    val columns = spark.read.parquet(folder.toString).schema.toDDL
    spark.sql(s"DROP TABLE IF EXISTS $name")
    spark.sql(
      s"""CREATE TABLE $name ($columns) USING parquet
         |CLUSTERED BY (${buckets.by}) SORTED BY (${buckets.by}, ${buckets.sortedBy})
         |INTO ${buckets.number} BUCKETS
         |LOCATION '$folder'""".stripMargin)
    ()
  }
}

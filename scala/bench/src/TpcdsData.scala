package io.firesteel.bench

import java.nio.file.{Files, Path}

import org.apache.spark.sql.SparkSession

/**
 * The tables of TPC-DS as Parquet with their statistics, made once per scale and kept.
 *
 * The specification does not ask for partitions by date. At a scale that two cores finish in
 * minutes each fact table would have 1,800 files of some kilobytes.
 */
final class TpcdsData(folder: Path, scale: Double, progress: Progress) {

  /** Increased when tables are written in another way. */
  private val generatorVersion = 1

  private val root =
    folder.toAbsolutePath.resolve(s"tpcds-${TpcdsData.text(scale)}-v$generatorVersion")

  /** Small, so tasks can share a table of few files. */
  private val rowGroupBytes = 16L << 20

  private val database = "tpcds"

  /** Makes missing tables, and lets queries read all tables by name, with statistics. */
  def register(spark: SparkSession, tables: Seq[TpcdsTable] = TpcdsTable.all): Unit = {
    spark.sql(s"CREATE DATABASE IF NOT EXISTS $database")
    spark.sql(s"USE $database")
    tables.foreach { table =>
      val files = root.resolve(table.name)
      if (!Files.isDirectory(files)) {
        progress.step(s"making ${table.name} at scale ${TpcdsData.text(scale)}") {
          WholeFolder.make(files)(write(spark, table, _))
        }
      }
      spark.sql(s"DROP TABLE IF EXISTS ${table.name}")
      spark.sql(
        s"CREATE TABLE ${table.name} (${table.schema.toDDL}) USING parquet LOCATION '$files'")
      // Outside the folder, or it would count as a file of the table.
      val kept = root.resolve(s"${table.name}.statistics.json")
      if (!Files.exists(kept)) {
        progress.step(s"analysing ${table.name}")(TableStatistics.analyze(spark, table.name, kept))
      }
      TableStatistics.load(spark, table.name, kept)
    }
  }

  private def write(spark: SparkSession, table: TpcdsTable, part: Path): Unit = {
    val units = table.units(scale)
    val files = math.max(1L, math.min(8L, units / 20000)).toInt
    val (named, scaled) = (table.name, scale) // a closure takes these along, and not a session
    val rows = spark.sparkContext.parallelize(TpcdsData.pieces(units, files), files).flatMap {
      case (first, last) => TpcdsTable(named).rows(scaled, first, last)
    }
    spark
      .createDataFrame(rows, table.schema)
      .write
      .option("parquet.block.size", rowGroupBytes)
      .parquet(part.toString)
  }
}

object TpcdsData {

  /**
   * Units 1 to `units` in consecutive ranges. Items, stores and the like have up to three versions
   * of one thing, in a pattern of 6 rows. A range that began inside a pattern would make them
   * differ.
   */
  def pieces(units: Long, files: Int): Seq[(Long, Long)] = {
    val ends = (1 until files).map(file => units * file / files / 6 * 6) :+ units
    (0L +: ends).zip(ends).collect { case (before, last) if before < last => (before + 1, last) }
  }

  /** `1` instead of `1.0`. */
  def text(scale: Double): String = BigDecimal(scale).bigDecimal.stripTrailingZeros.toPlainString
}

package io.firesteel.bench

import java.nio.file.{Files, Path, StandardCopyOption}

import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogColumnStat, CatalogStatistics, SessionCatalog}
import org.json4s.{DefaultFormats, Formats}
import org.json4s.jackson.Serialization

/**
 * The results of `ANALYZE TABLE`, kept in a file. A catalog in memory loses them with the session,
 * and the analysis takes as long as many queries.
 */
object TableStatistics {

  implicit private val formats: Formats = DefaultFormats

  private val histograms = "spark.sql.statistics.histogram.enabled"

  /** Analyses a table of the current database into `file`, every column with a histogram. */
  def analyze(spark: SparkSession, table: String, file: Path): Unit = {
    val before = spark.conf.get(histograms)
    spark.conf.set(histograms, "true")
    try spark.sql(s"ANALYZE TABLE $table COMPUTE STATISTICS FOR ALL COLUMNS")
    finally spark.conf.set(histograms, before)
    save(of(spark, table).getOrElse(sys.error(s"no statistics of $table")), file)
  }

  /** Gives a table of the current database the statistics in `file`. */
  def load(spark: SparkSession, table: String, file: Path): Unit = {
    val kept = Serialization.read[Map[String, String]](Files.readString(file))
    val columns = spark.table(table).columns.toSeq.flatMap { column =>
      CatalogColumnStat.fromMap(table, column, kept).map(column -> _)
    }
    val statistics = CatalogStatistics(
      BigInt(kept(sizeInBytes)),
      kept.get(rowCount).map(BigInt(_)),
      columns.toMap)
    catalog(spark).alterTableStats(TableIdentifier(table), Some(statistics))
  }

  /** The catalog's entry for a table of the current database. */
  def of(spark: SparkSession, table: String): Option[CatalogStatistics] =
    catalog(spark).getTableMetadata(TableIdentifier(table)).stats

  private def save(statistics: CatalogStatistics, file: Path): Unit = {
    val columns = statistics.colStats.flatMap { case (name, column) => column.toMap(name) }
    val all = columns ++ statistics.rowCount.map(rowCount -> _.toString) +
      (sizeInBytes -> statistics.sizeInBytes.toString)
    val part = file.resolveSibling(s".${file.getFileName}.part")
    Files.writeString(part, Serialization.write(all))
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE)
    ()
  }

  // The names of a column's entries have a dot, and these have none.
  private val sizeInBytes = "sizeInBytes"
  private val rowCount = "rowCount"

  private def catalog(spark: SparkSession): SessionCatalog =
    spark.asInstanceOf[classic.SparkSession].sessionState.catalog
}

package io.firesteel.bench

import java.nio.file.{Files, Path}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.types.StructType

/**
 * The tables of TPC-H as Parquet files: region and nation as one file each, the others in parts,
 * each a file. The times of the files have the order of the parts, so a stream reads them in order.
 *
 * @param data the folder for generated tables
 * @param parts files of a table that is read as a stream
 */
final class TpchFiles(
    spark: SparkSession,
    data: Path,
    scale: Double,
    parts: Int,
    progress: Progress) {

  private val root = data.toAbsolutePath.resolve(s"tpch-$scale-$parts")

  def folder(table: String): Path = root.resolve(table)

  def make(): Unit = TpchTables.schemas.keys.foreach { table =>
    if (!Files.isDirectory(folder(table))) {
      progress.step(s"making $table")(WholeFolder.make(folder(table)) { making =>
        Files.createDirectories(making)
        val last = if (TpchFiles.isSmall(table)) 1 else parts
        (1 to last).foreach { part =>
          OrderedFiles.write(TpchTables.part(spark, table, scale, part, last), making, part)
        }
      })
    }
  }

  /** Lets queries read the tables by their names, as tables. */
  def registerTables(): Unit = TpchTables.schemas.keys.foreach { table =>
    spark.read.parquet(folder(table).toString).createOrReplaceTempView(table)
  }

  /** Lets queries read the tables by their names, as streams where they are not small. */
  def registerStreams(filesPerBatch: Int): Unit = {
    registerTables()
    for ((table, schema) <- TpchTables.schemas if !TpchFiles.isSmall(table)) {
      spark.readStream.schema(StructType.fromDDL(schema))
        .option("maxFilesPerTrigger", filesPerBatch.toLong).parquet(folder(table).toString)
        .createOrReplaceTempView(table)
    }
  }
}

object TpchFiles {

  /** Tables that no query reads as a stream. */
  val isSmall: Set[String] = Set("region", "nation")

  /** The query without a last `ORDER BY` that has no `LIMIT`: it is of no use on a stream. */
  def unordered(sql: String): String =
    if (sql.toUpperCase.contains("LIMIT")) sql
    else sql.replaceFirst("(?is)ORDER\\s+BY(?!.*ORDER\\s+BY)[^()]*$", "")
}

package io.firesteel.bench

import java.nio.file.{Files, Path}

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.functions.{expr, lit}

/**
 * The tables of Nexmark as Parquet files of as many events each, in order, and one more file of each
 * with an event of a day later.
 *
 * @param data the folder for generated tables
 * @param parts files of each table, without the last
 */
final class NexmarkFiles(
    spark: SparkSession,
    data: Path,
    events: Long,
    parts: Int,
    progress: Progress) {

  private val generator = NexmarkEvents()

  private val root = data.toAbsolutePath.resolve(s"nexmark-$events-$parts")

  def folder(table: String): Path = root.resolve(table)

  /** The folder of the last event. */
  private def closing(table: String): Path = root.resolve("closing").resolve(table)

  def make(): Unit = {
    NexmarkEvents.schemas.keys.foreach { table =>
      whole(folder(table)) { making =>
        (1 to parts).foreach { part =>
          def border(of: Int): Long = events * of / parts
          OrderedFiles.write(
            generator.table(spark, table, border(part - 1), border(part)),
            making,
            part)
        }
      }
      whole(closing(table))(OrderedFiles.write(
        NexmarkFiles.closing(generator.table(spark, table, 0, 50), table),
        _,
        parts + 1))
    }
    whole(folder("side_input"))(OrderedFiles.write(NexmarkEvents.sideInput(spark), _, 1))
  }

  private def whole(folder: Path)(write: Path => Unit): Unit =
    if (!Files.isDirectory(folder)) {
      progress.step(s"making ${folder.getFileName}")(WholeFolder.make(folder) { making =>
        Files.createDirectories(making)
        write(making)
      })
    }

  /** Lets queries read the tables by their names, as tables. */
  def registerTables(): Unit = (NexmarkEvents.schemas.keys.toSeq :+ "side_input").foreach { table =>
    spark.read.parquet(folder(table).toString).createOrReplaceTempView(table)
  }

  /**
   * Lets queries read the tables by their names, as streams.
   *
   * @param closes whether the last event comes, which closes all windows before it
   */
  def registerStreams(filesPerBatch: Int, closes: Boolean): Unit = {
    registerTables()
    NexmarkEvents.schemas.foreach { case (table, schema) =>
      val files = if (closes) s"$root/{$table,closing/$table}" else folder(table).toString
      spark.readStream.schema(schema).option("maxFilesPerTrigger", filesPerBatch.toLong)
        .parquet(files)
        .withWatermark("dateTime", NexmarkEvents.delay)
        .createOrReplaceTempView(table)
    }
  }
}

object NexmarkFiles {

  /** The ids of the event that closes all windows. */
  val closingId: Long = -1

  private val ids =
    Map("person" -> Seq("id"), "auction" -> Seq("id"), "bid" -> Seq("auction", "bidder"))

  /** The first of some rows as an event of a day later. */
  def closing(rows: DataFrame, table: String): DataFrame =
    rows.limit(1).withColumns(
      ids(table).map(_ -> lit(closingId)).toMap +
        ("dateTime" -> expr("dateTime + INTERVAL '1' DAY")))
}

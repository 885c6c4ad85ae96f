package io.firesteel.bench

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.StreamingQuery

/**
 * A running outer join of two changelogs, whose left side has `rows` rows of key 0.
 *
 * @param rows rows of key 0; a ninth as many have other keys
 */
final class HotStream(spark: SparkSession, folder: Path, val rows: Long) extends AutoCloseable {

  private val making = folder.resolve("making")
  private var fed = 0

  private def files(side: String): Path = folder.resolve(side)

  private val query: StreamingQuery = {
    Seq("left", "right").foreach { side =>
      Files.createDirectories(files(side))
      spark.readStream.schema("k BIGINT, v BIGINT, op STRING").parquet(files(side).toString)
        .createOrReplaceTempView(s"hot_$side")
    }
    spark.sql(
      """SELECT l.k, l.v, r.v AS rv, row_kind() AS op
        |FROM from_changelog(TABLE(hot_left), 'op') AS l
        |LEFT JOIN from_changelog(TABLE(hot_right), 'op') AS r ON l.k = r.k""".stripMargin)
      .writeStream.format("noop").outputMode("append")
      .option("checkpointLocation", folder.resolve("checkpoint").toString)
      .start()
  }

  feed("left", s"SELECT IF(id < $rows, 0L, id) AS k, id AS v, '+I' AS op", rows + rows / 9)

  /** Feeds a change, and returns the seconds of its micro-batch. */
  def apply(change: HotKey.Change, round: Int): Double = {
    val n = HotKey.changed
    change match {
      case HotKey.Adds =>
        val from = 2 * rows + round * n
        feed("left", s"SELECT 0L AS k, id + $from AS v, '+I' AS op", n)
      case HotKey.Deletes =>
        feed("left", s"SELECT 0L AS k, id + ${round * n} AS v, '-D' AS op", n)
      case HotKey.RightComes => feed("right", "SELECT 0L AS k, 1L AS v, '+I' AS op", 1)
      case HotKey.RightGoes => feed("right", "SELECT 0L AS k, 1L AS v, '-D' AS op", 1)
    }
  }

  private def feed(side: String, select: String, rows: Long): Double = {
    spark.sql(s"$select FROM range(0, $rows, 1, 1)").write.mode("overwrite")
      .parquet(making.toString)
    fed += 1
    val part = Using.resource(Files.list(making)) {
      _.iterator.asScala.find(_.toString.endsWith(".parquet")).get
    }
    Files.move(part, files(side).resolve(s"$fed.parquet"))
    query.processAllAvailable()
    val batch = query.recentProgress.reverseIterator.find(_.numInputRows > 0).get
    if (batch.numInputRows != rows) sys.error(s"a micro-batch read ${batch.numInputRows} rows")
    batch.durationMs.get("triggerExecution") / 1e3
  }

  override def close(): Unit = {
    query.stop()
    WholeFolder.delete(folder)
  }
}

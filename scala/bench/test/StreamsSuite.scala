package io.firesteel.bench

import io.firesteel.testkit.TimedSuite

import java.nio.file.{Files, Path}

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.scalatest.BeforeAndAfterAll

/** Queries of a benchmark as streams: the changes of their results are folded. */
abstract class StreamsSuite extends TimedSuite with BeforeAndAfterAll {

  protected val folder: Path = Files.createTempDirectory("firesteel-streams")

  protected lazy val spark: SparkSession = SparkSession.builder().master("local[2]")
    .config("spark.sql.extensions", "io.firesteel.FiresteelExtensions")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.codegen.cache.maxEntries", "4000")
    .config("spark.sql.streaming.minBatchesToRetain", "2")
    .getOrCreate()

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.sparkContext.setLogLevel("ERROR")
  }

  override protected def afterAll(): Unit =
    try spark.stop()
    finally super.afterAll()

  protected def bag(rows: Seq[Row]): Map[Row, Int] =
    rows.groupBy(identity).map { case (row, same) => row -> same.size }

  /** Applies changes, whose kinds are their last column. */
  protected def fold(batch: DataFrame, into: mutable.Map[Row, Int]): Unit =
    batch.collect().foreach { change =>
      val row = Row.fromSeq(change.toSeq.init)
      val sign = if (change.getString(change.length - 1).matches("\\+[IU]")) 1 else -1
      val copies = into.getOrElse(row, 0) + sign
      if (copies == 0) into -= row else into(row) = copies
    }
}

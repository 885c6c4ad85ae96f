package io.firesteel.bench

import io.firesteel.testkit.LongTest

import java.nio.file.Files

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.types.StructType
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

/**
 * The queries of TPC-H, with every table but region and nation as a stream, in three micro-batches:
 * the changes add up to the answer of the batch query.
 */
class TpchStreamsSuite extends AnyFunSuite with BeforeAndAfterAll {

  private val folder = Files.createTempDirectory("firesteel-tpch")
  private val parts = 3
  private val small = Set("region", "nation")

  private lazy val spark = SparkSession.builder().master("local[2]")
    .config("spark.sql.extensions", "io.firesteel.FiresteelExtensions")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.codegen.cache.maxEntries", "4000")
    .config("spark.sql.streaming.minBatchesToRetain", "2")
    .getOrCreate()

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.sparkContext.setLogLevel("ERROR")
    TpchTables.schemas.keys.foreach { table =>
      (1 to parts).foreach { part =>
        TpchTables.part(spark, table, 0.002, part, parts).coalesce(1)
          .write.mode("append").parquet(s"$folder/$table")
      }
    }
  }

  override protected def afterAll(): Unit =
    try spark.stop()
    finally super.afterAll()

  private def tables(streaming: Boolean): Unit = TpchTables.schemas.foreach { case (name, schema) =>
    val rows =
      if (!streaming || small(name)) spark.read.parquet(s"$folder/$name")
      else spark.readStream.schema(StructType.fromDDL(schema)).option("maxFilesPerTrigger", "1")
        .parquet(s"$folder/$name")
    rows.createOrReplaceTempView(name)
  }

  /** A last `ORDER BY` without `LIMIT` is of no use on a stream. */
  private def unordered(sql: String): String =
    if (sql.toUpperCase.contains("LIMIT")) sql
    else sql.replaceFirst("(?is)ORDER\\s+BY(?!.*ORDER\\s+BY)[^()]*$", "")

  private def fold(batch: DataFrame, into: mutable.Map[Row, Int]): Unit = batch.collect().foreach {
    change =>
      val row = Row.fromSeq(change.toSeq.init)
      val sign = if (change.getString(change.length - 1).matches("\\+[IU]")) 1 else -1
      val copies = into.getOrElse(row, 0) + sign
      if (copies == 0) into -= row else into(row) = copies
  }

  /** One of each kind: joins with tables, an outer join, `NOT IN`, values of a key, `NOT EXISTS`. */
  private val short = Set("q5", "q13", "q16", "q17", "q22")

  TpchTables.queries.foreach { query =>
    test(query, (if (short(query)) Nil else Seq(LongTest)): _*) {
      val sql = unordered(TpchTables.sql(query))
      tables(streaming = false)
      val wanted = spark.sql(sql).collect().toSeq.groupBy(identity).map { case (row, same) =>
        row -> same.size
      }
      tables(streaming = true)
      val has = mutable.Map.empty[Row, Int]
      val running = spark.sql(s"SELECT *, row_kind() AS op FROM ($sql)").writeStream
        .trigger(Trigger.AvailableNow())
        .foreachBatch { (batch: DataFrame, _: Long) => fold(batch, has) }
        .start()
      running.awaitTermination()
      assert(has.toMap == wanted)
    }
  }
}

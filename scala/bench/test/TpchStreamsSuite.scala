package io.firesteel.bench

import io.firesteel.testkit.LongTest

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.types.StructType

/**
 * The queries of TPC-H over rows that only come, in three micro-batches: the changes add up to the
 * answer of the batch query.
 */
class TpchStreamsSuite extends TpchSuite {

  private val parts = 3

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    TpchTables.schemas.keys.foreach { table =>
      (1 to parts).foreach { part =>
        TpchTables.part(spark, table, 0.002, part, parts).coalesce(1)
          .write.mode("append").parquet(s"$folder/$table")
      }
    }
  }

  private def tables(streaming: Boolean): Unit = TpchTables.schemas.foreach { case (name, schema) =>
    val rows =
      if (!streaming || small(name)) spark.read.parquet(s"$folder/$name")
      else spark.readStream.schema(StructType.fromDDL(schema)).option("maxFilesPerTrigger", "1")
        .parquet(s"$folder/$name")
    rows.createOrReplaceTempView(name)
  }

  /** One of each kind: joins with tables, an outer join, `NOT IN`, values of a key, `NOT EXISTS`. */
  private val short = Set("q5", "q13", "q16", "q17", "q22")

  TpchTables.queries.foreach { query =>
    test(query, (if (short(query)) Nil else Seq(LongTest)): _*) {
      val sql = unordered(query)
      tables(streaming = false)
      val wanted = bag(spark.sql(sql).collect().toSeq)
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

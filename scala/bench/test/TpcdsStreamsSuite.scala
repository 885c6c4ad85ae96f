package io.firesteel.bench

import io.firesteel.testkit.LongTest

import java.math.MathContext

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.streaming.Trigger

/**
 * The queries of TPC-DS over fact tables whose rows come in two micro-batches: the changes add up to
 * the answer of the batch query.
 */
class TpcdsStreamsSuite extends StreamsSuite {

  private val scale = 0.01
  private val facts = Set("store_sales", "store_returns", "catalog_sales", "catalog_returns") ++
    Set("web_sales", "web_returns", "inventory")
  private val units = 600L

  // At any scale it has rows that take longer to make than all queries.
  private val fewer = Map("customer_demographics" -> 20000L)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.conf.set(
      "spark.sql.ansi.enabled",
      false
    ) // few rows may have sums of 0, by which q12 divides
    TpcdsTable.all.foreach { table =>
      val all = table.units(scale)
      val pieces =
        if (facts(table.name)) TpcdsData.pieces(math.min(all, units), 2)
        else Seq((1L, fewer.getOrElse(table.name, all)))
      pieces.foreach { case (first, last) =>
        spark.createDataFrame(table.rows(scale, first, last).toSeq.asJava, table.schema)
          .coalesce(1).write.mode("append").parquet(s"$folder/${table.name}")
      }
    }
  }

  private def tables(streaming: Boolean): Unit = TpcdsTable.all.foreach { table =>
    val files = s"$folder/${table.name}"
    val rows =
      if (!streaming || !facts(table.name)) spark.read.parquet(files)
      else spark.readStream.schema(table.schema).option("maxFilesPerTrigger", "1").parquet(files)
    rows.createOrReplaceTempView(table.name)
  }

  /** Without its last order and limit: rows that tie at a limit have several right answers. */
  private def whole(name: String): String =
    TpcdsQueries.sql(name).trim.stripSuffix(";")
      .replaceFirst("(?is)LIMIT\\s+\\d+\\s*$", "")
      .replaceFirst("(?is)ORDER\\s+BY(?!.*ORDER\\s+BY)[^()]*(\\([^()]*\\)[^()]*)*$", "")

  /** Averages and deviations depend on the order of adding in their last digits. */
  private def rounded(row: Row): Row = Row.fromSeq(row.toSeq.map {
    case value: Double => BigDecimal(value).round(new MathContext(9)).toString
    case other => other
  })

  /** One of each kind: functions with OVER, ROLLUP and ranks, a union with an outer join, sets. */
  private val short = Set("q5", "q36", "q38", "q51", "q67")

  TpcdsQueries.names.foreach { name =>
    test(name, (if (short(name)) Nil else Seq(LongTest)): _*) {
      val sql = whole(name)
      tables(streaming = false)
      val wanted = bag(spark.sql(sql).collect().toSeq.map(rounded))
      tables(streaming = true)
      assume(spark.sql(sql).isStreaming, "no fact table")
      val has = mutable.Map.empty[Row, Int]
      val running = spark.sql(s"SELECT *, row_kind() AS op FROM ($sql)").writeStream
        .trigger(Trigger.AvailableNow())
        .foreachBatch { (batch: DataFrame, _: Long) => fold(batch, has) }
        .start()
      running.awaitTermination()
      val folded = has.toSeq.groupMapReduce { case (row, _) => rounded(row) }(_._2)(_ + _)
      assert(folded.filter(_._2 != 0) == wanted)
    }
  }
}

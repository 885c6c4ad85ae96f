package io.firesteel.bench

import io.firesteel.testkit.LongTest

import java.nio.file.{Files, Path}

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.streaming.Trigger

/**
 * The queries of TPC-H over tables whose rows are deleted and updated on the way. After each
 * micro-batch the changes add up to the answer of the batch query. The query is stopped after it, and
 * the next one starts from the checkpoint.
 */
class TpchChangesSuite extends TpchSuite {

  private lazy val changes = new TpchChanges(spark, 0.002)
  private def tables = TpchTables.schemas.keys.toSeq

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    for (micro <- changes.micro; table <- tables) {
      changes.in(table, micro).coalesce(1).write.parquet(s"$folder/$micro/$table")
      changes.after(table, micro).coalesce(1).write.parquet(s"$folder/after/$micro/$table")
    }
  }

  private def answer(sql: String, micro: Int): Map[Row, Int] = {
    tables.foreach { table =>
      val at = if (small(table)) changes.micro.last else micro
      spark.read.parquet(s"$folder/after/$at/$table").createOrReplaceTempView(table)
    }
    bag(spark.sql(sql).collect().toSeq)
  }

  /** The tables as streams over the files of a folder. */
  private def streams(fed: Path): Unit = tables.foreach { table =>
    if (small(table)) {
      spark.read.parquet(s"$folder/after/${changes.micro.last}/$table")
        .createOrReplaceTempView(table)
    } else {
      val schema = spark.read.parquet(s"$folder/1/$table").schema
      spark.readStream.schema(schema).parquet(Files.createDirectories(fed.resolve(table)).toString)
        .createOrReplaceTempView(s"fed_$table")
      spark.sql(s"SELECT * FROM ${changes.read(table, s"fed_$table")}")
        .createOrReplaceTempView(table)
    }
  }

  private def feed(fed: Path, micro: Int): Unit = tables.filterNot(small).foreach { table =>
    val files = Using.resource(Files.list(folder.resolve(s"$micro/$table")))(
      _.iterator.asScala.filter(_.toString.endsWith(".parquet")).toSeq)
    files.foreach(file => Files.copy(file, fed.resolve(s"$table/$micro.parquet")))
  }

  /** One of each kind: `EXISTS`, an outer join, `NOT IN`, a value of all rows. */
  private val short = Set("q4", "q13", "q16", "q22")

  /** Queries whose constants these few rows do not have. */
  private val empty = Set("q20", "q21")

  TpchTables.queries.foreach { query =>
    test(query, (if (short(query)) Nil else Seq(LongTest)): _*) {
      val sql = unordered(query)
      val fed = Files.createTempDirectory("firesteel-tpch-fed")
      val has = mutable.Map.empty[Row, Int]
      changes.micro.foreach { micro =>
        val wanted = answer(sql, micro)
        streams(fed)
        feed(fed, micro)
        spark.sql(s"SELECT *, row_kind() AS op FROM ($sql)").writeStream
          .trigger(Trigger.AvailableNow())
          .option("checkpointLocation", s"$fed/checkpoint")
          .foreachBatch { (batch: DataFrame, _: Long) => fold(batch, has) }
          .start().awaitTermination()
        val (more, missing) = (has.toSet -- wanted.toSet, wanted.toSet -- has.toSet)
        assert(
          more.isEmpty && missing.isEmpty,
          s"after micro-batch $micro: only the stream's ${more.take(5)}, only the batch's " +
            s"${missing.take(5)}")
      }
      assert(has.nonEmpty || empty(query), "an empty result proves nothing")
    }
  }
}

package io.firesteel.bench

import java.sql.Timestamp

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.Assertion

/**
 * The queries of Nexmark over events that come in three micro-batches: the changes add up to the
 * answer of the batch query. A query whose result has a key runs in update mode, all others in append
 * mode.
 */
class NexmarkStreamsSuite extends StreamsSuite {

  private val events = NexmarkEvents(perSecond = 100, inFlight = 20)

  /** Numbers of events, inside of windows: 17.3 s, 33.7 s and 50 s after the first. */
  private val borders = Seq(0L, 1730L, 3370L, 5000L)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set(
      "spark.sql.streaming.checkpointFileManagerClass",
      "io.firesteel.checkpoint.LocalCheckpointFileManager")
    // The first lower() with ICU takes seconds.
    spark.conf.set("spark.sql.icu.caseMappings.enabled", false)
    NexmarkEvents.schemas.keys.foreach { table =>
      borders.zip(borders.tail).zipWithIndex.foreach { case ((from, until), part) =>
        events.table(spark, table, from, until).write.parquet(s"$folder/$part/$table")
      }
      NexmarkFiles.closing(events.table(spark, table, 0, 50), table)
        .write.parquet(s"$folder/3/$table")
    }
    NexmarkEvents.sideInput(spark).createOrReplaceTempView("side_input")
  }

  private def tables(streaming: Boolean, parts: String): Unit =
    NexmarkEvents.schemas.foreach { case (table, schema) =>
      val files = s"$folder/$parts/$table"
      val rows =
        if (!streaming) spark.read.parquet(files)
        else spark.readStream.schema(schema).option("maxFilesPerTrigger", "1").parquet(files)
          .withWatermark("dateTime", NexmarkEvents.delay)
      rows.createOrReplaceTempView(table)
    }

  /** Applies changes of update mode, which has no row before an update. */
  private def upsert(batch: DataFrame, key: Seq[String], into: mutable.Map[Row, Row]): Unit = {
    val at = key.map(batch.schema.fieldIndex)
    batch.collect().foreach { change =>
      val of = Row.fromSeq(at.map(change.get))
      if (change.getString(change.length - 1) == "-D") into -= of
      else into(of) = Row.fromSeq(change.toSeq.init)
    }
  }

  private def answer(query: NexmarkQuery): Map[Row, Int] = {
    tables(streaming = true, if (query.closes) "[0-3]" else "[0-2]")
    val (has, rows) = (mutable.Map.empty[Row, Int], mutable.Map.empty[Row, Row])
    val running = spark.sql(s"SELECT *, row_kind() AS op FROM (${query.sql})")
      .writeStream
      .trigger(Trigger.AvailableNow())
      .outputMode(query.mode)
      .foreachBatch { (batch: DataFrame, _: Long) =>
        if (query.key.isEmpty) fold(batch, has) else upsert(batch, query.key, rows)
      }
      .start()
    running.awaitTermination()
    assert(running.recentProgress.count(_.numInputRows > 0) == (if (query.closes) 4 else 3))
    if (query.key.isEmpty) has.toMap else bag(rows.values.toSeq)
  }

  /** What two runs have in common: windows of the clock do not start with the query. */
  private def comparable(query: NexmarkQuery, rows: Map[Row, Int]): Map[Row, Int] =
    if (query.name == "q12") {
      rows.keys.groupMapReduce(row => Row(row.get(0)))(_.getLong(1).toInt)(_ + _)
    } else if (query.closes) rows.filter(_._1.get(0) != NexmarkFiles.closingId)
    else rows

  test("parts of a table make the whole, with dense ids and times that ascend") {
    Map("person" -> 100, "auction" -> 300, "bid" -> 4600).foreach { case (table, size) =>
      val whole = events.table(spark, table, 0, borders.last).collect().toSeq
      assert(whole.size == size)
      assert(bag(whole) == bag(spark.read.parquet(s"$folder/[0-2]/$table").collect().toSeq))
      val times = whole.map(_.getAs[Timestamp]("dateTime"))
      assert(times.zip(times.tail).forall { case (one, next) => one.before(next) })
      if (table != "bid") assert(whole.map(_.getLong(0)) == whole.indices.map(_ + 1000L))
    }
  }

  test("another seed makes other rows") {
    def made(seed: Long) = events.copy(seed = seed).table(spark, "bid", 0, 1000).collect().toSet
    assert(made(1) == made(1) && made(1).intersect(made(2)).isEmpty)
  }

  test("the ten highest bids on an auction do not tie, so each query has one right answer") {
    tables(streaming = false, "[0-2]")
    val tied = spark.sql("""SELECT * FROM (
      SELECT rank() OVER (PARTITION BY auction ORDER BY price DESC) AS place,
        count(*) OVER (PARTITION BY auction, price) AS same
      FROM bid) WHERE place <= 10 AND same > 1""")
    assert(tied.isEmpty)
  }

  NexmarkQueries.all.foreach { query =>
    def follows(): Assertion = {
      tables(streaming = false, "[0-2]")
      val wanted = bag(spark.sql(query.sql).collect().toSeq)
      assert(wanted.nonEmpty, "an empty result proves nothing")
      val (ours, theirs) = (comparable(query, answer(query)), comparable(query, wanted))
      val (more, missing) = (ours.toSet -- theirs.toSet, theirs.toSet -- ours.toSet)
      assert(
        more.isEmpty && missing.isEmpty,
        s"only the stream's ${more.take(5)}, only the batch's ${missing.take(5)}")
    }
    test(query.name)(follows())
  }
}

package io.firesteel.changelog.state

import io.firesteel.changelog.ChangelogSuite

import java.nio.file.Files
import java.sql.Timestamp
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{DataFrame, Encoders, Row}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.firesteel.streaming.memoryStream
import org.apache.spark.sql.types.StructType

/**
 * The function of a sink reads the rows of a micro-batch in several actions, the first of which leaves
 * most unread. What it leaves is read before the store's iterators are closed.
 */
class UnreadRowsSuite extends ChangelogSuite {

  private def reads(mode: String, sql: String): Seq[Row] = {
    val input = memoryStream[Row](spark)(Encoders.row(StructType.fromDDL("ts TIMESTAMP, k INT")))
    input.toDF().withWatermark("ts", "1 minute").createOrReplaceTempView("unread")
    var last = Seq.empty[Row]
    val query = spark.sql(sql).writeStream.outputMode(mode)
      .option("checkpointLocation", Files.createTempDirectory("firesteel-unread").toString)
      .foreachBatch { (batch: DataFrame, _: Long) =>
        if (!batch.isEmpty)
          last = if (mode == "append") last ++ batch.collect() else batch.collect().toSeq
      }.start()
    try (1 to 6).foreach { i =>
        val time = new Timestamp(i * 3600000L)
        input.addData((0 until 40).map(n => Row(time, n * i % 40)))
        query.processAllAvailable()
      }
    finally query.stop()
    last
  }

  test("an upper operator reads what a lower one of its task has not emitted") {
    spark.sparkContext.parallelize(Seq(1), 1).foreachPartition { _ =>
      val (lower, upper) = (new UnreadRows, new UnreadRows)
      val below = Iterator(1, 2, 3).map(InternalRow(_))
      lower.are(below)
      upper.are(below.map { row =>
        UnreadRowsSuite.read.add(row.getInt(0))
        row
      })
      lower.readAtEnd()
    }
    assert(UnreadRowsSuite.read.asScala.toSeq == Seq(1, 2, 3))
  }

  for (provider <- providers) test(provider.split('.').last)(withProvider(provider) {
    val groups = reads(
      "complete",
      "SELECT n, count(*) AS c FROM (SELECT k, count(*) AS n FROM unread GROUP BY k) GROUP BY n")
    assert(groups.map(row => row.getLong(0) * row.getLong(1)).sum == 240L)
    val panes = reads(
      "append",
      "SELECT k, count(*) AS n, row_kind() AS op FROM unread GROUP BY k, window(ts, '1 hour', '5 minutes')")
    // Of six hours the last is open.
    assert(panes.map(_.getLong(1)).sum >= 5L * 40 * 12 && panes.forall(_.getString(2) == "+I"))
  })
}

object UnreadRowsSuite {
  val read = new ConcurrentLinkedQueue[Int]
}

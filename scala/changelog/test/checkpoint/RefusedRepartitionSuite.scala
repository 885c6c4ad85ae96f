package io.firesteel.changelog.checkpoint

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{DataFrame, Encoders, Row}
import org.apache.spark.sql.firesteel.streaming.memoryStream
import org.apache.spark.sql.execution.streaming.state.OfflineStateRepartitionRunner
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.Assertion

/** Checkpoints that are not repartitioned, and those that Spark's own repartitioning has left. */
class RefusedRepartitionSuite extends ChangelogSuite {

  private val schema = "k INT"
  private val sql =
    "SELECT c, count(*) AS n FROM (SELECT k, count(*) AS c FROM {t} GROUP BY k) GROUP BY c"

  private def rows(from: Int): Seq[Row] = (0 until 20).map(i => Row((i * from) % 7))

  private def feed(fed: ChangelogStream, from: Int): Assertion = {
    fed.feed(rows(from))
    assert(fed.difference.isEmpty)
  }

  private def fedTwice[T](body: ChangelogStream => T): T = {
    val fed = stream(schema, sql)
    try {
      fed.start()
      feed(fed, 1)
      feed(fed, 2)
      body(fed)
    } finally fed.stop()
  }

  private def files(checkpoint: String): Set[String] =
    Using.resource(Files.walk(Path.of(checkpoint)))(_.iterator.asScala.map(_.toString).toSet)

  /** The condition with which it is refused; no file has come or gone. */
  private def refused(checkpoint: String, n: Int = 3): String = {
    val before = files(checkpoint)
    val error = intercept[SparkThrowable](RepartitionState(spark, checkpoint, n))
    assert(files(checkpoint) == before)
    error.getCondition.stripPrefix("FIRESTEEL_REPARTITION_")
  }

  test("a folder without a checkpoint, one without state, and a number that is none are refused") {
    val folder = Files.createTempDirectory("firesteel-none").toString
    assert(refused(folder) == "NO_CHECKPOINT")
    assert(refused(folder, 0) == "BAD_NUMBER")
    val input = memoryStream[Int](spark)(Encoders.scalaInt)
    input.addData(1)
    val query = input.toDF().writeStream.option("checkpointLocation", folder)
      .foreachBatch((batch: DataFrame, _: Long) => { val _ = batch.collect() }).start()
    try query.processAllAvailable()
    finally query.stop()
    assert(refused(folder) == "NO_STATE")
  }

  test("a query that runs is left alone") {
    fedTwice { fed =>
      assert(refused(fed.checkpoint) == "RUNNING")
      feed(fed, 3)
    }
  }

  test("a micro-batch that has not ended must end first") {
    fedTwice { fed =>
      fed.failsNext = true
      val _ = intercept[Exception](fed.feed(rows(3)))
      assert(refused(fed.checkpoint) == "UNFINISHED_BATCH")
      fed.start()
      feed(fed, 4)
      fed.stop()
      RepartitionState(spark, fed.checkpoint, 3)
      fed.start()
      feed(fed, 5)
    }
  }

  test("state of an operator that is not known is refused before anything is written") {
    val input = memoryStream[Int](spark)(Encoders.scalaInt)
    val checkpoint = Files.createTempDirectory("firesteel-join").toString
    val (left, right) = (input.toDF().as("l"), input.toDF().as("r"))
    input.addData(1, 2)
    val query = left.join(right, "value").writeStream
      .option("checkpointLocation", checkpoint)
      .foreachBatch((batch: DataFrame, _: Long) => { val _ = batch.collect() }).start()
    try query.processAllAvailable()
    finally query.stop()
    assert(refused(checkpoint) == "UNKNOWN_OPERATOR")
  }

  test("the number that it has already changes nothing") {
    fedTwice { fed =>
      fed.stop()
      val before = files(fed.checkpoint)
      assert(RepartitionState(spark, fed.checkpoint, 2) == Repartitioned(1, 2, 2))
      assert(files(fed.checkpoint) == before)
    }
  }

  test("where a query runs in another process, one of both fails, and it is not the query") {
    fedTwice { fed =>
      fed.stop()
      val checkpoint = new Checkpoint(spark, fed.checkpoint)
      val offset = checkpoint.offset(1).get
      // It has begun its next micro-batch while the state was read.
      val note = RepartitionNote("none", checkpoint.commit(1).get)
      assert(checkpoint.offsets.add(2, offset.text))
      assert(!checkpoint.offsets.add(2, offset.repartitioned(3, note).text))
    }
  }

  test("an entry that is not where its key says is told, and the query goes on as it was") {
    fedTwice { fed =>
      fed.stop()
      val state = Path.of(fed.checkpoint, "state", "1")
      val (here, there) = (state.resolve("0"), state.resolve("1"))
      def swap(): Unit = {
        val aside = state.resolve("aside")
        Seq(here -> aside, there -> here, aside -> there).foreach { case (a, b) =>
          val _ = Files.move(a, b)
        }
        val (a, b) = (there.resolve("_metadata"), here.resolve("_metadata"))
        if (Files.exists(a)) { val _ = Files.move(a, b) }
        else { val _ = Files.move(b, a) }
      }
      swap()
      assert(refused(fed.checkpoint) == "ELSEWHERE")
      swap()
      fed.start()
      feed(fed, 3)
    }
  }

  Seq("1", "2").foreach { format =>
    test(s"what Spark's own repartitioning has left is told, and mended, in format $format") {
      withConf(
        SQLConf.STATE_STORE_PROVIDER_CLASS.key -> rocksDb,
        SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key -> format) {
        Seq(2, 3, 4).foreach { n =>
          fedTwice { fed =>
            fed.stop()
            val _ = intercept[Exception](
              new OfflineStateRepartitionRunner(spark, fed.checkpoint, 4, false).run())
            val told = intercept[SparkThrowable](fed.start())
            assert(told.getCondition == "FIRESTEEL_REPARTITION_UNFINISHED_BY_SPARK")
            RepartitionState(spark, fed.checkpoint, n)
            fed.start()
            feed(fed, 3)
            fed.restart()
            feed(fed, 4)
          }
        }
      }
    }
  }

  test("whole versions that Spark's own repartitioning has written are not taken for the query's") {
    withProvider(rocksDb) {
      fedTwice { fed =>
        fed.stop()
        val _ = intercept[Exception](
          new OfflineStateRepartitionRunner(spark, fed.checkpoint, 4, false).run())
        val written = files(fed.checkpoint).filter(_.endsWith("/1.zip"))
        assert(written.size == 4)
        written.foreach { file =>
          val _ = Files.copy(Path.of(file), Path.of(file).resolveSibling("3.zip"))
        }
        RepartitionState(spark, fed.checkpoint, 2)
        // From now on it writes changes, and reads them on top of the last whole version.
        withConf("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled" -> true) {
          fed.start()
          feed(fed, 3)
          fed.restart()
          feed(fed, 4)
        }
      }
    }
  }

  test("a micro-batch that Spark's own repartitioning has passed over is run after all") {
    withProvider(rocksDb) {
      fedTwice { fed =>
        fed.failsNext = true
        val _ = intercept[Exception](fed.feed(rows(3)))
        fed.stop()
        val _ = intercept[Exception](
          new OfflineStateRepartitionRunner(spark, fed.checkpoint, 4, false).run())
        val error = intercept[SparkThrowable](RepartitionState(spark, fed.checkpoint, 4))
        assert(error.getCondition == "FIRESTEEL_REPARTITION_UNFINISHED_BATCH")
        fed.start()
        feed(fed, 4)
        fed.stop()
        RepartitionState(spark, fed.checkpoint, 4)
        fed.start()
        feed(fed, 5)
      }
    }
  }
}

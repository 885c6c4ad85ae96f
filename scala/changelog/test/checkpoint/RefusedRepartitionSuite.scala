package io.firesteel.changelog.checkpoint

import java.nio.file.{Files, Path}

import org.apache.spark.sql.{DataFrame, Encoders, Row}
import org.apache.spark.sql.firesteel.hasEmptyStores
import org.apache.spark.sql.firesteel.streaming.memoryStream

/** Checkpoints that are not repartitioned. */
class RefusedRepartitionSuite extends RepartitionSuite {

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

  test(
    "a first micro-batch that has failed must end first, too: its settings are in the checkpoint") {
    val fed = stream("k INT, v INT", "SELECT k, count(*) AS n FROM {t} GROUP BY k")
    try {
      fed.start()
      fed.failsNext = true
      val _ = intercept[Exception](fed.feed(Seq(Row(1, 1))))
      assert(refused(fed.checkpoint) == "UNFINISHED_BATCH")
    } finally fed.stop()
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

  test("state in RocksDB is refused on a Spark that cannot write it") {
    withProvider(rocksDb) {
      fedTwice { fed =>
        fed.stop()
        if (!hasEmptyStores) assert(refused(fed.checkpoint) == "OLD_SPARK")
      }
    }
  }
}

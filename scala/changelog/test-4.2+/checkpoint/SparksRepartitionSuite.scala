package io.firesteel.changelog.checkpoint

import java.nio.file.{Files, Path}

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.streaming.state.OfflineStateRepartitionRunner
import org.apache.spark.sql.internal.SQLConf

/** Checkpoints that Spark's own repartitioning has left, which came with Spark 4.2. */
class SparksRepartitionSuite extends RepartitionSuite {

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

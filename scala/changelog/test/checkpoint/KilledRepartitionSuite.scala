package io.firesteel.changelog.checkpoint

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}
import io.firesteel.testkit.TestSize

import java.io.IOException
import java.util.concurrent.atomic.AtomicInteger

import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.Row
import org.apache.spark.sql.firesteel.hasEmptyStores
import org.apache.spark.sql.firesteel.streaming.{CheckpointFileManager, FileContextBasedCheckpointFileManager}
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.Assertion

/** Files as a process sees them that dies: from some moment on nothing is written or removed. */
final class DyingFiles(path: Path, conf: Configuration)
  extends FileContextBasedCheckpointFileManager(path, conf) {

  override def createAtomic(path: Path, overwriteIfPossible: Boolean)
      : CheckpointFileManager.CancellableFSDataOutputStream = {
    DyingFiles.step()
    super.createAtomic(path, overwriteIfPossible)
  }

  override def delete(path: Path): Unit = {
    DyingFiles.step()
    super.delete(path)
  }

  override def mkdirs(path: Path): Unit = {
    DyingFiles.step()
    super.mkdirs(path)
  }
}

object DyingFiles {
  private val left = new AtomicInteger

  private def step(): Unit =
    if (left.getAndDecrement() <= 0) throw new IOException("the process is dead")

  /** Whether work is done before the process dies. */
  def whole(steps: Int)(work: => Any): Boolean = {
    left.set(steps)
    Try(work).isSuccess
  }
}

/** A repartitioning that is killed starts the query with the old number of partitions or the new one. */
class KilledRepartitionSuite extends ChangelogSuite {

  private val filesKey = SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key

  private def dying(steps: Int)(work: => Any): Boolean =
    withConf(filesKey -> classOf[DyingFiles].getName)(DyingFiles.whole(steps)(work))

  private def feed(fed: ChangelogStream): Assertion = {
    fed.feed((0 until 30).map(i => Row(i % 11)))
    assert(fed.difference.isEmpty)
  }

  /** Whether it was done before the process died. */
  private def killedAfter(steps: Int): Boolean = {
    val fed = stream("k INT", "SELECT k, count(*) AS n FROM {t} GROUP BY k")
    val checkpoint = new Checkpoint(spark, fed.checkpoint)
    def partitions = checkpoint.offset(checkpoint.offsets.last.get).flatMap(_.partitions).get
    try {
      fed.start()
      feed(fed)
      fed.stop()
      val done = dying(steps)(RepartitionState(spark, fed.checkpoint, 3))
      val decided = partitions == 3
      if (checkpoint.begun.nonEmpty) assert(!dying(1)(fed.start()), "and killed again at the start")
      fed.start()
      feed(fed)
      fed.stop()
      assert(partitions == (if (decided) 3 else 2))
      RepartitionState(spark, fed.checkpoint, 3)
      fed.start()
      feed(fed)
      fed.stop()
      assert(partitions == 3)
      assert(decided || checkpoint.folders(checkpoint.root).forall(!_.contains("repartition")))
      done
    } finally fed.stop()
  }

  /** At each step, or at some of them. */
  private val stride = if (TestSize.isLong) 1 else 7

  Seq(hdfs -> 0, rocksDb -> 1).filter(hasEmptyStores || _._1 == hdfs).foreach {
    case (provider, first) =>
      test(s"whenever it is killed: ${provider.split('.').last}") {
        withProvider(provider) {
          val tries =
            Iterator.from(first, stride).map(killedAfter).take(100).takeWhile(!_).size
          assert(tries > 2 && tries < 100)
        }
      }
  }
}

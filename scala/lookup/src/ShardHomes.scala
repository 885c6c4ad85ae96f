package io.firesteel.lookup

import java.time.Duration

import scala.jdk.CollectionConverters._

import com.github.benmanes.caffeine.cache.{Cache, Caffeine, Scheduler}
import org.apache.spark.{Partition, SparkContext, SparkEnv, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.util.CollectionAccumulator

/**
 * The executors in which the shards of a stream's lookup ran last. The next micro-batch prefers
 * them, because they have the caches. As with Spark's state stores, it is a preference.
 */
private[lookup] object ShardHomes {

  private type Seen = CollectionAccumulator[(Int, String)]

  private val seen: Cache[String, Seen] =
    Caffeine
      .newBuilder()
      .expireAfterAccess(Duration.ofHours(1))
      .scheduler(Scheduler.systemScheduler())
      .build[String, Seen]()

  /** The shards of that lookup with their preferred executors, and the endpoint for reports. */
  def settle(
      name: String,
      rows: RDD[InternalRow],
      context: SparkContext): (RDD[InternalRow], ShardReport) = {
    val before = Option(seen.getIfPresent(name)).fold(Map.empty[Int, String])(_.value.asScala.toMap)
    val now = context.collectionAccumulator[(Int, String)](s"homes of $name")
    // A shard without rows does not run, and keeps its executor.
    before.foreach(now.add)
    seen.put(name, now)
    (if (before.isEmpty) rows else new SettledRDD(rows, before), new ShardReport(now))
  }
}

/** Reports to the driver where a shard runs. */
private[lookup] final class ShardReport(homes: CollectionAccumulator[(Int, String)])
  extends Serializable {

  def here(shard: Int): Unit = {
    val manager = SparkEnv.get.blockManager.blockManagerId
    // The form in which Spark's scheduler reads a location in an executor.
    homes.add((shard, s"executor_${manager.host}_${manager.executorId}"))
  }
}

/** The same rows, with a preferred location for each partition. */
private[lookup] final class SettledRDD(rows: RDD[InternalRow], homes: Map[Int, String])
  extends RDD[InternalRow](rows) {

  override protected def getPartitions: Array[Partition] = rows.partitions

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] =
    rows.iterator(split, context)

  override protected def getPreferredLocations(split: Partition): Seq[String] =
    homes.get(split.index).toSeq
}

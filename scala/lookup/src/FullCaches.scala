package io.firesteel.lookup

import java.time.Duration

import scala.jdk.CollectionConverters._

import com.github.benmanes.caffeine.cache.{Cache, Caffeine, RemovalListener, Scheduler}
import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode

/**
 * Identity of a stream's dimension. The plan's text is no identity: it omits data of relations.
 *
 * @param application part of the identity, because a restarted stream keeps its id and may run in
 *   another Spark context
 * @param name the dimension's name in the query
 * @param dimension canonical plan; if it contains the time of the micro-batch, it is new in each
 */
private[lookup] final case class FullCacheKey(
    application: String,
    stream: String,
    name: String,
    dimension: LogicalPlan,
    mode: BroadcastMode) {

  /** Whether both may be the same dimension of a query at two times. */
  def mayFollow(other: FullCacheKey): Boolean =
    application == other.application && stream == other.stream && name == other.name && mode == other.mode && this != other
}

/** The dimensions that streams of this driver keep. */
private[lookup] object FullCaches {

  /** Longer than the pause between micro-batches. A stream that ended keeps its cache this long. */
  private val idle = Duration.ofHours(1)

  /** Loads outside of the map's lock, because the dimension of a load may have a FULL cache too. */
  private final class Slot(application: String, firstBatch: Long) {
    private var held: FullCache = _
    @volatile private var lastBatch = firstBatch

    def get(batch: Long, reload: Reload)(load: => FullCache): FullCache = synchronized {
      lastBatch = batch
      if (held == null || held.isDue(reload, System.currentTimeMillis())) {
        val fresh = load
        letGo()
        held = fresh
      }
      held
    }

    def isOlderThan(batch: Long): Boolean = lastBatch < batch

    /**
     * Frees the executors' copies, once. A query that still uses the broadcast fetches it again. A
     * stopped context has freed its own copies, and the next context reuses their numbers.
     */
    def letGo(): Unit = synchronized {
      if (held != null && isRunning(application)) held.broadcast.unpersist(blocking = false)
      held = null
    }
  }

  private def isRunning(application: String): Boolean =
    Option(SparkEnv.get).exists(_.conf.get("spark.app.id", "") == application)

  /** Runs in a thread of its own, because a slot is locked while it loads. */
  private val whenRemoved: RemovalListener[FullCacheKey, Slot] = (_, slot, _) => slot.letGo()

  /** With a scheduler, because no access would trigger the expiry of an unused cache. */
  private val slots: Cache[FullCacheKey, Slot] =
    Caffeine
      .newBuilder()
      .expireAfterAccess(idle)
      .scheduler(Scheduler.systemScheduler())
      .removalListener[FullCacheKey, Slot](whenRemoved)
      .build[FullCacheKey, Slot]()

  /**
   * The dimension of a key, loaded if `reload` is due. A load that fails keeps the old one.
   *
   * Drops a dimension of the same name that neither this micro-batch nor the one before used: a
   * plan that contains the time of its micro-batch is never used again. Also drops the dimensions
   * of other Spark contexts, because a process has one context at a time.
   */
  def get(key: FullCacheKey, batch: Long, reload: Reload)(load: => FullCache): FullCache = {
    slots.asMap.asScala.foreach { case (other, slot) =>
      val isOver = key.mayFollow(other) && slot.isOlderThan(batch - 1)
      if (isOver || key.application != other.application) {
        val _ = slots.asMap.remove(other, slot)
      }
    }
    slots.get(key, _ => new Slot(key.application, batch)).get(batch, reload)(load)
  }

  /** The number of dimensions that a stream keeps. */
  private[lookup] def sizeOf(stream: String): Int =
    slots.asMap.keySet.asScala.count(_.stream == stream)
}

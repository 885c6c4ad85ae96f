package io.firesteel.lookup

import java.time.Duration

import scala.jdk.CollectionConverters._

import com.github.benmanes.caffeine.cache.{Cache, Caffeine, RemovalListener, Scheduler}
import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode

/**
 * A dimension of a stream. Its text would not do: it leaves out the data of relations.
 *
 * @param application a stream begun again keeps its id, and may find itself in another Spark context
 * @param name the dimension, as the query knows it
 * @param dimension canonical; with the time of the micro-batch in it, it is a new one in each
 */
private[lookup] final case class FullCacheKey(
    application: String,
    stream: String,
    name: String,
    dimension: LogicalPlan,
    mode: BroadcastMode) {

  /** Whether both may be one dimension of a query, at two times. */
  def mayFollow(other: FullCacheKey): Boolean =
    application == other.application && stream == other.stream && name == other.name && mode == other.mode && this != other
}

/** What streams of this driver keep. */
private[lookup] object FullCaches {

  /** Longer than a stream pauses between micro-batches; a stream that ended leaves its cache so long. */
  private val idle = Duration.ofHours(1)

  /** Loads outside of the map, which may hold no lock meanwhile: a dimension may itself have one. */
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
     * Frees the executors' copies, once; a query that still has the broadcast is sent it again. Those of
     * a context that has stopped are gone with it, and their numbers are of others in the next one.
     */
    def letGo(): Unit = synchronized {
      if (held != null && isRunning(application)) held.broadcast.unpersist(blocking = false)
      held = null
    }
  }

  private def isRunning(application: String): Boolean =
    Option(SparkEnv.get).exists(_.conf.get("spark.app.id", "") == application)

  /** Not run by the thread that removes: a slot is locked while it loads. */
  private val whenRemoved: RemovalListener[FullCacheKey, Slot] = (_, slot, _) => slot.letGo()

  /** With a scheduler, because nothing looks after a cache that nobody uses. */
  private val slots: Cache[FullCacheKey, Slot] =
    Caffeine
      .newBuilder()
      .expireAfterAccess(idle)
      .scheduler(Scheduler.systemScheduler())
      .removalListener[FullCacheKey, Slot](whenRemoved)
      .build[FullCacheKey, Slot]()

  /**
   * The dimension by that key, loaded anew when due. A failed load leaves the old one in place.
   *
   * A dimension of that name of which neither this micro-batch nor the one before asked is let go:
   * one whose text holds the time of its micro-batch is never asked for again. So are all of another
   * Spark context, of which a process has one at a time.
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

  /** How many dimensions a stream keeps. */
  private[lookup] def sizeOf(stream: String): Int =
    slots.asMap.keySet.asScala.count(_.stream == stream)
}

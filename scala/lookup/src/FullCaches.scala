package io.firesteel.lookup

import java.time.Duration

import scala.jdk.CollectionConverters._

import com.github.benmanes.caffeine.cache.{Cache, Caffeine}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode

/**
 * A dimension of a stream. Its text would not do: it leaves out the data of relations.
 *
 * @param name the dimension, as the query knows it
 * @param dimension canonical; with the time of the micro-batch in it, it is a new one in each
 */
private[lookup] final case class FullCacheKey(
    stream: String,
    name: String,
    dimension: LogicalPlan,
    mode: BroadcastMode) {

  /** Whether both may be one dimension of a query, at two times. */
  def mayFollow(other: FullCacheKey): Boolean =
    stream == other.stream && name == other.name && mode == other.mode && this != other
}

/** What streams of this driver keep. */
private[lookup] object FullCaches {

  /** Longer than a stream pauses between micro-batches; a stream that ended leaves its cache so long. */
  private val idle = Duration.ofHours(1)

  /** Loads outside of the map, which may hold no lock meanwhile: a dimension may itself have one. */
  private final class Slot(firstBatch: Long) {
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

    def letGo(): Unit = synchronized {
      if (held != null) held.broadcast.unpersist(blocking = false)
    }
  }

  private val slots: Cache[FullCacheKey, Slot] =
    Caffeine.newBuilder().expireAfterAccess(idle).build[FullCacheKey, Slot]()

  /**
   * The dimension by that key, loaded anew when due. A failed load leaves the old one in place.
   *
   * A dimension of that name of which neither this micro-batch nor the one before asked is let go:
   * one whose text holds the time of its micro-batch is never asked for again.
   */
  def get(key: FullCacheKey, batch: Long, reload: Reload)(load: => FullCache): FullCache = {
    slots.asMap.asScala.foreach { case (other, slot) =>
      if (key.mayFollow(other) && slot.isOlderThan(batch - 1) && slots.asMap.remove(other, slot))
        slot.letGo()
    }
    slots.get(key, _ => new Slot(batch)).get(batch, reload)(load)
  }

  /** How many dimensions a stream keeps. */
  private[lookup] def sizeOf(stream: String): Int =
    slots.asMap.keySet.asScala.count(_.stream == stream)
}

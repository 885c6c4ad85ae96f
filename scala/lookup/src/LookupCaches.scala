package io.firesteel.lookup

import java.time.Duration

import scala.jdk.CollectionConverters._

import com.github.benmanes.caffeine.cache.{Cache, Caffeine, Scheduler}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.{ByteType, DataType, DateType, IntegerType, LongType, ShortType, StructType, TimestampNTZType, TimestampType}

/** Answers of the store that are kept: rows of the dimension by key; an empty array is a miss. */
private[lookup] trait AnswerCache {

  /** Null when not cached. The key may be reused by the caller. */
  def get(key: UnsafeRow): Array[UnsafeRow]

  /** Keeps rows by a key that nobody changes any more. */
  def put(key: UnsafeRow, rows: Array[UnsafeRow]): Unit
}

private[lookup] object AnswerCache {

  /** `lookup.cache = NONE`. */
  object None extends AnswerCache {
    override def get(key: UnsafeRow): Array[UnsafeRow] = null
    override def put(key: UnsafeRow, rows: Array[UnsafeRow]): Unit = ()
  }

  def of(policy: CachePolicy.Partial, keys: StructType): AnswerCache =
    new CaffeineAnswers(policy, isWholeNumber(keys))

  /** Whether a key is one value that a row holds in eight bytes, equal when these are. */
  private def isWholeNumber(keys: StructType): Boolean =
    keys.length == 1 && wholeNumbers.contains(keys.head.dataType)

  private val wholeNumbers: Set[DataType] =
    Set(ByteType, ShortType, IntegerType, LongType, DateType, TimestampType, TimestampNTZType)
}

/** @param byNumber keys are numbers, not rows: two reads of memory less for each that is compared */
private final class CaffeineAnswers(policy: CachePolicy.Partial, byNumber: Boolean)
  extends AnswerCache {

  private[this] val cache: Cache[AnyRef, Array[UnsafeRow]] = {
    val builder = Caffeine.newBuilder()
    policy.maxRows.foreach(builder.maximumSize(_))
    policy.expireAfterWrite.foreach(ms => builder.expireAfterWrite(Duration.ofMillis(ms)))
    policy.expireAfterAccess.foreach(ms => builder.expireAfterAccess(Duration.ofMillis(ms)))
    // Upkeep by the asking thread: the common pool's threads may hold a class loader of their own.
    builder.executor((task: Runnable) => task.run()).build[AnyRef, Array[UnsafeRow]]()
  }

  override def get(key: UnsafeRow): Array[UnsafeRow] = cache.getIfPresent(kept(key))

  override def put(key: UnsafeRow, rows: Array[UnsafeRow]): Unit =
    if (rows.length > 0 || policy.cacheMissingKey) cache.put(kept(key), rows)

  private def kept(key: UnsafeRow): AnyRef =
    if (byNumber) java.lang.Long.valueOf(key.getLong(0)) else key
}

/**
 * The caches of this executor process, shared by the tasks of one query, because a task lives no
 * longer than a micro-batch.
 *
 * Memory: as many entries in each cache as its policy allows. A cache that no task asked for in
 * [[idle]] goes, and of more than [[most]] the one that was asked for least: a connector or a
 * projection that holds something of its micro-batch has new ones in each.
 */
private[lookup] object LookupCaches {

  /** Longer than a usual trigger interval; a query that is gone leaves its cache for as long. */
  private val idle = Duration.ofMinutes(15)

  /** Enough for some lookups in some hundred shards each. */
  private val most = 4096L

  private val caches: Cache[String, AnswerCache] =
    Caffeine
      .newBuilder()
      .expireAfterAccess(idle)
      .maximumSize(most)
      .scheduler(Scheduler.systemScheduler())
      .build[String, AnswerCache]()

  /** The cache by that name; whoever asks first makes it. */
  def shared(name: String, policy: CachePolicy.Partial, keys: StructType): AnswerCache =
    caches.get(name, _ => AnswerCache.of(policy, keys))

  /** How many caches a query has here. */
  private[lookup] def sizeOf(query: String): Int =
    caches.asMap.keySet.asScala.count(_.startsWith(s"$query "))
}

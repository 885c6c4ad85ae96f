package io.firesteel.lookup

import java.time.Duration

import scala.jdk.CollectionConverters._

import com.github.benmanes.caffeine.cache.{Cache, Caffeine, Scheduler}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.{ByteType, DataType, DateType, IntegerType, LongType, ShortType, StructType, TimestampNTZType, TimestampType}

/** Cached answers: rows of the dimension by key. An empty array means that the key has no rows. */
private[lookup] trait AnswerCache {

  /** Null if not cached. The caller may reuse the key. */
  def get(key: UnsafeRow): Array[UnsafeRow]

  /** Keeps rows by a key that must not change any more. */
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

  /** Whether a key is one value that a row stores in eight bytes, equal if these are equal. */
  private def isWholeNumber(keys: StructType): Boolean =
    keys.length == 1 && wholeNumbers.contains(keys.head.dataType)

  private val wholeNumbers: Set[DataType] =
    Set(ByteType, ShortType, IntegerType, LongType, DateType, TimestampType, TimestampNTZType)
}

/** @param byNumber keys are numbers instead of rows, which saves two memory reads per comparison */
private final class CaffeineAnswers(policy: CachePolicy.Partial, byNumber: Boolean)
  extends AnswerCache {

  private[this] val cache: Cache[AnyRef, Array[UnsafeRow]] = {
    val builder = Caffeine.newBuilder()
    policy.maxRows.foreach(builder.maximumSize(_))
    policy.expireAfterWrite.foreach(ms => builder.expireAfterWrite(Duration.ofMillis(ms)))
    policy.expireAfterAccess.foreach(ms => builder.expireAfterAccess(Duration.ofMillis(ms)))
    // Runs upkeep in the caller: threads of the common pool may have another class loader.
    builder.executor((task: Runnable) => task.run()).build[AnyRef, Array[UnsafeRow]]()
  }

  override def get(key: UnsafeRow): Array[UnsafeRow] = cache.getIfPresent(kept(key))

  override def put(key: UnsafeRow, rows: Array[UnsafeRow]): Unit =
    if (rows.length > 0 || policy.cacheMissingKey) cache.put(kept(key), rows)

  private def kept(key: UnsafeRow): AnyRef =
    if (byNumber) java.lang.Long.valueOf(key.getLong(0)) else key
}

/**
 * The caches of this executor process. All tasks of a query share them, because a task lives no
 * longer than a micro-batch.
 *
 * Memory: each cache has as many entries as its policy allows. A cache that no task used for
 * [[idle]] is dropped. Above [[most]] caches the least recently used one is dropped: a connector or
 * a projection that holds an object of its micro-batch has a new cache in each.
 */
private[lookup] object LookupCaches {

  /** Longer than a usual trigger interval. A query that ended leaves its cache this long. */
  private val idle = Duration.ofMinutes(15)

  /** Enough for some lookups with some hundred shards each. */
  private val most = 4096L

  private val caches: Cache[String, AnswerCache] =
    Caffeine
      .newBuilder()
      .expireAfterAccess(idle)
      .maximumSize(most)
      .scheduler(Scheduler.systemScheduler())
      .build[String, AnswerCache]()

  /** The cache of that name; the first caller creates it. */
  def shared(name: String, policy: CachePolicy.Partial, keys: StructType): AnswerCache =
    caches.get(name, _ => AnswerCache.of(policy, keys))

  /** The number of caches of a query in this process. */
  private[lookup] def sizeOf(query: String): Int =
    caches.asMap.keySet.asScala.count(_.startsWith(s"$query "))
}

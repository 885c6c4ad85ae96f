package io.firesteel.changelog.state

import java.util.concurrent.atomic.AtomicBoolean

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.{BoundReference, GenericInternalRow, JoinedRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.{StateStore, UnsafeRowPair}
import org.apache.spark.sql.types.{LongType, StructType}

/**
 * Entries that are there for a time after they were last written, and then as if they had never been
 * (Flink: `table.exec.state.ttl`). Nothing is told of what expires.
 *
 * The time is the last column of a value, in milliseconds: that of the micro-batch that wrote it
 * ([[TimeToLive]]). What has expired is not read from that moment on, and leaves the store in one of the
 * next [[ExpiringEntries.evictEvery]] micro-batches.
 *
 * @param value the columns of a value, without the time
 * @param nowMs the time of this micro-batch
 */
final private[state] class ExpiringEntries(
    store: StateStore,
    counts: StateCounts,
    value: StructType,
    ttlMs: Long,
    nowMs: Long,
    operator: String)
  extends StateEntries(store, counts)
  with Logging {

  private[this] val timeAt = value.length
  private[this] val joined = new JoinedRow
  private[this] val time = new GenericInternalRow(Array[Any](nowMs))
  private[this] val columns = (value.map(_.dataType) :+ LongType).zipWithIndex.map { case (t, i) =>
    BoundReference(i, t, nullable = true)
  }
  private[this] val toStored = UnsafeProjection.create(columns)
  private[this] val toValue = UnsafeProjection.create(columns.init)

  /** As it was put: whoever compares it knows nothing of the time. */
  override def get(key: UnsafeRow): UnsafeRow = {
    val stored = super.get(key)
    if (stored == null || hasExpired(stored)) null else toValue(stored).copy()
  }

  override def expires: Boolean = true

  override def put(key: UnsafeRow, value: UnsafeRow): Unit =
    super.put(key, toStored(joined(value, time)))

  override def present(rows: Long): Long =
    if (rows >= 0L) rows
    else {
      counts.late += 1
      if (ExpiringEntries.tell.compareAndSet(true, false)) {
        logWarning(
          s"$operator was told that a row is gone of which its state, kept for $ttlMs ms, knows nothing " +
            "any more, and ignores it. There may be more; this is logged once, and counted in the " +
            "operator's metrics.")
      }
      0L
    }

  override def evict(): Unit =
    if ((store.version + store.id.partitionId) % ExpiringEntries.evictEvery == 0) {
      counts.expired += removeWhere(entry => hasExpired(entry.value))
    }

  override protected def isThere(entry: UnsafeRowPair): Boolean = !hasExpired(entry.value)

  private def hasExpired(stored: UnsafeRow): Boolean = nowMs - stored.getLong(timeAt) > ttlMs
}

private[state] object ExpiringEntries {

  /** Micro-batches of which one looks through a partition's whole store. */
  val evictEvery: Int = 16

  private val tell = new AtomicBoolean(true)
}

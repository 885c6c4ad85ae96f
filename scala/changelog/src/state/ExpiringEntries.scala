package io.firesteel.changelog.state

import io.firesteel.core.rows.ColumnProjection

import java.util.concurrent.atomic.AtomicBoolean

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.{BoundReference, GenericInternalRow, JoinedRow, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair
import org.apache.spark.sql.types.{LongType, StructType}

/**
 * Entries with a time to live, counted from the last write (Flink: `table.exec.state.ttl`). Expired
 * state emits nothing.
 *
 * The last column of a value is the time of the micro-batch that wrote it ([[TimeToLive]]), in
 * milliseconds. An expired entry is not read any more. It leaves the store within
 * [[ExpiringEntries.evictEvery]] micro-batches.
 *
 * @param value the columns of a value, without the time
 * @param nowMs the time of this micro-batch
 */
final private[state] class ExpiringEntries(
    store: KeyedStore,
    counts: StateCounts,
    value: StructType,
    lifetimes: Lifetimes,
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
  private[this] val toStored = ColumnProjection(columns)
  private[this] val toValue = ColumnProjection(columns.init)

  /** Without the time: callers compare it with the value that they put. */
  override def get(key: UnsafeRow): UnsafeRow = {
    val stored = super.get(key)
    if (stored == null || hasExpired(key, stored)) null else toValue(stored).copy()
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
          s"$operator ignored a retraction of a row that has expired (time to live ${lifetimes.text}). " +
            "This is logged once; the metric numLateRetractions counts every such retraction.")
      }
      0L
    }

  override def evict(): Unit =
    if (store.turn % ExpiringEntries.evictEvery == 0) {
      store.sweep(entry => hasExpired(entry.key, entry.value))(counts.expired += _)
    }

  override protected def isThere(entry: UnsafeRowPair): Boolean =
    !hasExpired(entry.key, entry.value)

  private def hasExpired(key: UnsafeRow, stored: UnsafeRow): Boolean =
    nowMs - stored.getLong(timeAt) > lifetimes.of(key)
}

/** How long entries live after they were last written, in milliseconds. */
sealed abstract private[state] class Lifetimes extends Serializable {
  def of(key: UnsafeRow): Long
  def text: String
}

private[state] object Lifetimes {

  final case class One(ms: Long) extends Lifetimes {
    override def of(key: UnsafeRow): Long = ms
    override def text: String = s"$ms ms"
  }

  /** @param tableAt the column of a stored key with the number of its table */
  final case class OfTables(tableAt: Int, ms: Seq[Long]) extends Lifetimes {
    override def of(key: UnsafeRow): Long = ms(key.getInt(tableAt))
    override def text: String = s"${ms.min} ms"
  }
}

private[state] object ExpiringEntries {

  /** A partition's whole store is scanned once in so many micro-batches. */
  val evictEvery: Int = 16

  private val tell = new AtomicBoolean(true)
}

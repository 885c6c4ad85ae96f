package io.firesteel.changelog.normalize

import io.firesteel.changelog.fold.{ArrivalOrder, FoldIterator, FoldLimits, KeyChanges, ResultChange}
import io.firesteel.changelog.state.StateEntries
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{JoinedRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * Replaces each key's row by its newest one and emits the change (Flink: ChangelogNormalize).
 *
 * A row of a key that has one is an update, whatever row kind the source gives it. The same row
 * again, and a deletion of a key without a row, change nothing. A deletion retracts the row in
 * state; only its key columns are read. With a sequence, deletions stay in state, so that an older
 * row that arrives later does not insert the key again.
 *
 * @param keys number of key columns of an input row; after them come `columns` others, the row kind
 *   and the number of the partition that the row came from
 * @param toValue projects an input row to its other columns and a flag that it is no deletion
 */
final private[normalize] class FinalNormalize(
    rows: Iterator[InternalRow],
    limits: FoldLimits,
    keys: Int,
    columns: Int,
    toKey: UnsafeProjection,
    toValue: UnsafeProjection,
    toOutput: UnsafeProjection,
    order: ArrivalOrder,
    updateBefore: Boolean,
    entries: StateEntries,
    late: SQLMetric)
  extends FoldIterator(rows, limits) {

  private[this] val newest = new java.util.LinkedHashMap[UnsafeRow, KeyChanges]()
  private[this] val joined = new JoinedRow
  private[this] val deletedAt = columns
  private[this] val kindAt = keys + columns
  private[this] var rowBytes = 0L

  override protected def held: Int = newest.size

  override protected def bytes: Long = rowBytes

  /** Rows of one partition arrive in order; partitions arrive in any order. */
  override protected def fold(input: InternalRow): Unit = {
    val key = toKey(input)
    val known = newest.get(key)
    val its = if (known != null) known else new KeyChanges(order)
    if (known == null) {
      newest.put(key.copy(), its)
      rowBytes += key.getSizeInBytes + FoldLimits.overhead
    }
    val before = its.bytes
    its.offer(toValue(input), input.getByte(kindAt), input.getInt(kindAt + 1).toLong)
    rowBytes += its.bytes - before
  }

  override protected def drain(): Iterator[InternalRow] = {
    val all = newest.entrySet.iterator
    val told = new Iterator[List[InternalRow]] {
      override def hasNext: Boolean = all.hasNext
      override def next(): List[InternalRow] = {
        val entry = all.next()
        settle(entry.getKey, entry.getValue)
      }
    }.flatten
    new Iterator[InternalRow] {
      override def hasNext: Boolean = told.hasNext || {
        newest.clear()
        rowBytes = 0L
        false
      }
      override def next(): InternalRow = told.next()
    }
  }

  private def settle(key: UnsafeRow, its: KeyChanges): List[InternalRow] = {
    val stored = entries.get(key)
    val bySequence = if (stored == null) 1 else order.compare(its.newest, stored)
    if (bySequence < 0) late += 1
    // A `-U` that arrives after its own update is not out of sequence, and retracts no other row.
    if (bySequence > 0 || bySequence == 0 && (its.hasLast || its.replaces(stored))) {
      save(key, stored, its)
    } else Nil
  }

  private def save(key: UnsafeRow, stored: UnsafeRow, its: KeyChanges): List[InternalRow] = {
    val value = its.newest.copy()
    value.setBoolean(deletedAt, its.isDeletion)
    // Built before the store is written: the old row may be the store's own memory.
    val (before, after) = (rowOf(key, stored), rowOf(key, value))
    if (after == null && order.isByArrival) {
      if (stored != null) entries.remove(key)
    } else if (stored == null || entries.expires || stored != value) entries.put(key, value)
    ResultChange(before, after, updateBefore)
  }

  /** The row of a value, without its row kind; null for a deletion. */
  private def rowOf(key: UnsafeRow, value: UnsafeRow): UnsafeRow =
    if (value == null || value.getBoolean(deletedAt)) null
    else toOutput(joined(key, value)).copy()
}

package io.firesteel.changelog.normalize

import io.firesteel.changelog.fold.{FoldIterator, FoldLimits}
import io.firesteel.changelog.state.StateEntries
import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{JoinedRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * Replaces each key's row by its newest one and tells what became of it (Flink: ChangelogNormalize).
 *
 * A row of a key that has one is an update, whatever its source calls it; the same row again is
 * nothing, and neither is the deletion of a key that has none. A deletion takes the row that is
 * there, and needs no more of its own than the key. With a sequence, deletions are remembered, so
 * that an older row that comes after one does not bring the key back.
 *
 * @param keys how many columns of an input row are its key; `columns` others, its kind and the
 *   number of the partition that it came from follow
 * @param toValue an input row's other columns and, last, whether it is a deletion
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

  final private class Newest(var value: UnsafeRow, var isBefore: Boolean, var partition: Int)

  private[this] val newest = new java.util.LinkedHashMap[UnsafeRow, Newest]()
  private[this] val joined = new JoinedRow
  private[this] val deletedAt = columns
  private[this] val kindAt = keys + columns
  private[this] var rowBytes = 0L

  override protected def held: Int = newest.size

  override protected def bytes: Long = rowBytes

  override protected def fold(input: InternalRow): Unit = {
    val key = toKey(input)
    val value = toValue(input)
    val kind = input.getByte(kindAt)
    value.setBoolean(deletedAt, RowKind.isRetraction(kind))
    val isBefore = kind == RowKind.UpdateBefore
    val partition = input.getInt(kindAt + 1)
    val known = newest.get(key)
    if (known == null) {
      newest.put(key.copy(), new Newest(value.copy(), isBefore, partition))
      rowBytes += key.getSizeInBytes + value.getSizeInBytes + FoldLimits.overhead
    } else if (isNewer(value, isBefore, partition, known)) {
      rowBytes += value.getSizeInBytes - known.value.getSizeInBytes
      known.value = value.copy()
      known.isBefore = isBefore
      known.partition = partition
    }
  }

  /** Rows of one partition come in their order, partitions in any. */
  private def isNewer(
      value: UnsafeRow,
      isBefore: Boolean,
      partition: Int,
      known: Newest): Boolean = {
    val bySequence =
      order.compare(value, isBefore, known.value, known.isBefore, areSame(value, known.value))
    bySequence > 0 || (bySequence == 0 && partition >= known.partition)
  }

  /** But for whether they are deletions. */
  private def areSame(value: UnsafeRow, other: UnsafeRow): Boolean = {
    val deleted = value.getBoolean(deletedAt)
    value.setBoolean(deletedAt, other.getBoolean(deletedAt))
    val same = value == other
    value.setBoolean(deletedAt, deleted)
    same
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

  private def settle(key: UnsafeRow, its: Newest): List[InternalRow] = {
    val (value, stored) = (its.value, entries.get(key))
    if (stored != null &&
      order.compare(value, its.isBefore, stored, false, areSame(value, stored)) < 0) {
      // What came behind its own update is not out of sequence.
      if (order.compare(value, stored) < 0) late += 1
      Nil
    } else {
      // Made before the store takes the new row: the old one may be the store's own.
      val (before, after) = (rowOf(key, stored), rowOf(key, value))
      if (after == null && order.isByArrival) {
        if (stored != null) entries.remove(key)
      } else if (stored == null || entries.expires || stored != value) entries.put(key, value)
      changes(before, after)
    }
  }

  /** The row that a value stands for, its kind left open; none for a deletion. */
  private def rowOf(key: UnsafeRow, value: UnsafeRow): UnsafeRow =
    if (value == null || value.getBoolean(deletedAt)) null
    else toOutput(joined(key, value)).copy()

  private def changes(before: UnsafeRow, after: UnsafeRow): List[InternalRow] =
    if (before == null && after == null) Nil
    else if (before == null) List(kind(after, RowKind.Insert))
    else if (after == null) List(kind(before, RowKind.Delete))
    else if (before == after) Nil
    else if (updateBefore) {
      List(kind(before, RowKind.UpdateBefore), kind(after, RowKind.UpdateAfter))
    } else List(kind(after, RowKind.UpdateAfter))

  private def kind(row: UnsafeRow, kind: Byte): UnsafeRow = {
    row.setByte(row.numFields - 1, kind)
    row
  }
}

package io.firesteel.changelog.normalize

import io.firesteel.changelog.fold.{ArrivalOrder, FoldIterator, FoldLimits}
import io.firesteel.core.changes.RowKind

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}

/**
 * Keeps each key's newest row. The row kind is its last column.
 *
 * If a key has `-U` rows only, all of them that differ are kept: any may be the row in state. When
 * no more may be held, it emits what it holds; the last emitted row of a key is its newest.
 */
final private[normalize] class NewestRows(
    rows: Iterator[InternalRow],
    limits: FoldLimits,
    toKey: UnsafeProjection,
    order: ArrivalOrder,
    toOutput: UnsafeProjection)
  extends FoldIterator(rows, limits) {

  private[this] val newest = new java.util.LinkedHashMap[UnsafeRow, UnsafeRow]()

  // Further `-U` rows of keys that have `-U` rows only.
  private[this] val others =
    new java.util.HashMap[UnsafeRow, java.util.LinkedHashSet[UnsafeRow]]()

  private[this] var rowBytes = 0L

  override protected def held: Int = newest.size + others.size

  override protected def bytes: Long = rowBytes

  override protected def fold(row: InternalRow): Unit = {
    val own = row.asInstanceOf[UnsafeRow]
    val key = toKey(own)
    val known = newest.get(key)
    if (known == null) {
      newest.put(key.copy(), own.copy())
      rowBytes += key.getSizeInBytes + own.getSizeInBytes + FoldLimits.overhead
    } else {
      val bySequence = order.compare(own, known)
      if (bySequence == 0 && isBefore(own)) replace(key, own, known)
      else if (bySequence >= 0) {
        newest.put(key, own.copy()) // the existing key stays
        rowBytes += own.getSizeInBytes - known.getSizeInBytes
        if (!others.isEmpty) { val _ = others.remove(key) }
      }
    }
  }

  private def isBefore(row: UnsafeRow): Boolean =
    !order.isByArrival && row.getByte(row.numFields - 1) == RowKind.UpdateBefore

  /** Handles a `-U` with the sequence of another row: it deletes that row if they are equal. */
  private def replace(key: UnsafeRow, row: UnsafeRow, known: UnsafeRow): Unit = {
    val at = row.numFields - 1
    if (isBefore(known)) {
      if (row != known && others.computeIfAbsent(key.copy(), _ => newSet()).add(row.copy())) {
        rowBytes += row.getSizeInBytes + FoldLimits.overhead
      }
    } else {
      row.setByte(at, known.getByte(at))
      if (row == known) known.setByte(at, RowKind.Delete)
    }
  }

  private def newSet() = new java.util.LinkedHashSet[UnsafeRow]()

  override protected def drain(): Iterator[InternalRow] = {
    val more = others.values.iterator.asScala.flatMap(_.iterator.asScala)
    val all = newest.values.iterator.asScala ++ more
    new Iterator[InternalRow] {
      override def hasNext: Boolean = all.hasNext || {
        newest.clear()
        others.clear()
        rowBytes = 0L
        false
      }
      override def next(): InternalRow = toOutput(all.next())
    }
  }
}

package io.firesteel.changelog

import io.firesteel.core.RowKind
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{SortOrder, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.codegen.LazilyGeneratedOrdering

/**
 * Which of two rows of a key is the newer: by the sequence, and of equals the one that comes later. What
 * an update has replaced is older than all with its sequence, from whatever file it comes.
 */
final private[changelog] class ArrivalOrder(sequence: Seq[SortOrder]) {

  private[this] val ordering = new LazilyGeneratedOrdering(sequence)

  val isByArrival: Boolean = sequence.isEmpty

  /**
   * Less than 0 when `row` is older than `other` by the sequence, 0 when that does not tell.
   *
   * @param isBefore whether `row` is what an update has replaced
   * @param otherIsBefore whether the other is
   */
  def compare(
      row: InternalRow,
      isBefore: Boolean,
      other: InternalRow,
      otherIsBefore: Boolean): Int =
    if (isByArrival) 0
    else {
      val bySequence = ordering.compare(row, other)
      if (bySequence != 0) bySequence else java.lang.Boolean.compare(otherIsBefore, isBefore)
    }
}

/**
 * Keeps each key's newest row. The kind of a row is its last column.
 *
 * When it may hold no more it hands on what it has, and of the rows of a key that it gives the last
 * is the newest that came.
 */
final private[changelog] class NewestRows(
    rows: Iterator[InternalRow],
    limits: FoldLimits,
    toKey: UnsafeProjection,
    order: ArrivalOrder,
    toOutput: UnsafeProjection)
  extends FoldIterator(rows, limits) {

  private[this] val newest = new java.util.LinkedHashMap[UnsafeRow, UnsafeRow]()

  private[this] var rowBytes = 0L

  override protected def held: Int = newest.size

  override protected def bytes: Long = rowBytes

  override protected def fold(row: InternalRow): Unit = {
    val own = row.asInstanceOf[UnsafeRow]
    val key = toKey(own)
    val known = newest.get(key)
    if (known == null) {
      newest.put(key.copy(), own.copy())
      rowBytes += key.getSizeInBytes + own.getSizeInBytes + FoldLimits.overhead
    } else if (order.compare(own, isBefore(own), known, isBefore(known)) >= 0) {
      newest.put(key, own.copy()) // the key that is there stays
      rowBytes += own.getSizeInBytes - known.getSizeInBytes
    }
  }

  private def isBefore(row: UnsafeRow): Boolean =
    row.getByte(row.numFields - 1) == RowKind.UpdateBefore

  override protected def drain(): Iterator[InternalRow] = {
    val all = newest.values.iterator
    new Iterator[InternalRow] {
      override def hasNext: Boolean = all.hasNext || {
        newest.clear()
        rowBytes = 0L
        false
      }
      override def next(): InternalRow = toOutput(all.next())
    }
  }
}

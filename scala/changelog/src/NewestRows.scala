package io.firesteel.changelog

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{SortOrder, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.codegen.LazilyGeneratedOrdering

/** Which of two rows of a key is the newer: by the sequence, and of equals the one that comes later. */
final private[changelog] class ArrivalOrder(sequence: Seq[SortOrder]) {

  private[this] val ordering = new LazilyGeneratedOrdering(sequence)

  val isByArrival: Boolean = sequence.isEmpty

  /** Less than 0 when `row` is older than `other` by the sequence, 0 when that does not tell. */
  def compare(row: InternalRow, other: InternalRow): Int =
    if (isByArrival) 0 else ordering.compare(row, other)
}

/**
 * Keeps each key's newest row.
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
    } else if (order.compare(own, known) >= 0) {
      newest.put(key, own.copy()) // the key that is there stays
      rowBytes += own.getSizeInBytes - known.getSizeInBytes
    }
  }

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

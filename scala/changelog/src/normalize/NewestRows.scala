package io.firesteel.changelog.normalize

import io.firesteel.changelog.fold.{FoldIterator, FoldLimits}
import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{SortOrder, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.codegen.LazilyGeneratedOrdering

/**
 * Which of two rows of a key is the newer: by the sequence, and of equals the one that comes later.
 *
 * What an update has replaced is older than another row with its sequence, whenever and from whatever
 * file it comes: the two sides of an update in one commit may lie in two, with the commit's number. Not so
 * if it is the very row: then the sequence is the rows' own, and the row goes.
 */
final private[normalize] class ArrivalOrder(sequence: Seq[SortOrder]) {

  private[this] val ordering = new LazilyGeneratedOrdering(sequence)

  val isByArrival: Boolean = sequence.isEmpty

  /**
   * Less than 0 when `row` is older than `other` by the sequence, 0 when that does not tell.
   *
   * @param isBefore whether `row` is what an update has replaced
   * @param otherIsBefore whether the other is
   * @param areSame whether they have the same columns
   */
  def compare(
      row: InternalRow,
      isBefore: Boolean,
      other: InternalRow,
      otherIsBefore: Boolean,
      areSame: => Boolean): Int = {
    val bySequence = compare(row, other)
    if (isByArrival || bySequence != 0 || isBefore == otherIsBefore || areSame) bySequence
    else if (isBefore) -1
    else 1
  }

  def compare(row: InternalRow, other: InternalRow): Int =
    if (isByArrival) 0 else ordering.compare(row, other)
}

/**
 * Keeps each key's newest row. The kind of a row is its last column.
 *
 * When it may hold no more it hands on what it has, and of the rows of a key that it gives the last
 * is the newest that came.
 */
final private[normalize] class NewestRows(
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
    } else if (isNewer(own, known)) {
      newest.put(key, own.copy()) // the key that is there stays
      rowBytes += own.getSizeInBytes - known.getSizeInBytes
    }
  }

  private def isNewer(row: UnsafeRow, known: UnsafeRow): Boolean = {
    val at = row.numFields - 1
    val (kind, knownKind) = (row.getByte(at), known.getByte(at))
    def areSame = {
      row.setByte(at, knownKind)
      val same = row == known
      row.setByte(at, kind)
      same
    }
    order.compare(
      row,
      kind == RowKind.UpdateBefore,
      known,
      knownKind == RowKind.UpdateBefore,
      areSame) >= 0
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

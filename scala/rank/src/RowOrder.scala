package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.{BaseOrdering, UnsafeRow}
import org.apache.spark.unsafe.Platform

/**
 * Compares binary rows as ORDER BY does.
 *
 * A signed 64-bit prefix of the first order key goes first; Spark's generated ordering is asked only
 * when two prefixes are equal and that does not settle it. One instance belongs to one task thread:
 * it reuses two row pointers.
 *
 * @param ordering the whole ORDER BY, over rows of `numFields` columns
 * @param decisive whether equal prefixes mean equal rows, but for the prefix `edge`, which a null
 *   shares with an extreme value
 */
private[rank] final class RowOrder(
    ordering: BaseOrdering,
    numFields: Int,
    decisive: Boolean,
    edge: Long) {

  private[this] val left = new UnsafeRow(numFields)
  private[this] val right = new UnsafeRow(numFields)

  /** Whether two rows with this prefix are equal in every order key. */
  def decides(prefix: Long): Boolean = decisive && prefix != edge

  /** Negative, zero or positive as the kept row `a` goes before, with or after the row `b`. */
  def compareKept(aPrefix: Long, a: Array[Byte], bPrefix: Long, b: UnsafeRow): Int =
    if (aPrefix != bPrefix) {
      if (aPrefix < bPrefix) -1 else 1
    } else if (decides(aPrefix)) 0
    else {
      left.pointTo(a, a.length)
      ordering.compare(left, b)
    }

  /** The same for two kept rows. */
  def compare(aPrefix: Long, a: Array[Byte], bPrefix: Long, b: Array[Byte]): Int =
    if (aPrefix != bPrefix) {
      if (aPrefix < bPrefix) -1 else 1
    } else if (decides(aPrefix)) 0
    else {
      right.pointTo(b, b.length)
      compareKept(aPrefix, a, bPrefix, right)
    }

  /** Compares two rows without prefixes. */
  def compareRows(a: UnsafeRow, b: UnsafeRow): Int = ordering.compare(a, b)
}

private[rank] object RowOrder {

  /** The bytes of `row`, in `victim` when that has the right length, else in a new array. */
  def copy(row: UnsafeRow, victim: Array[Byte] = null): Array[Byte] = {
    val size = row.getSizeInBytes
    val bytes = if (victim != null && victim.length == size) victim else new Array[Byte](size)
    Platform.copyMemory(
      row.getBaseObject,
      row.getBaseOffset,
      bytes,
      Platform.BYTE_ARRAY_OFFSET.toLong,
      size.toLong)
    bytes
  }
}

package io.firesteel.changelog.fold

import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The newest of one key's changes; they may arrive in any order.
 *
 * The newest change has the greatest sequence; with equal sequences, the last place counts. A `-U`
 * row is never newer than another row with its sequence. If it equals that row and comes from a
 * later place, that row is deleted ([[ArrivalOrder]]). So the newest row is kept together with the
 * `-U` rows of its sequence that a later row may equal: usually none.
 */
final private[changelog] class KeyChanges(order: ArrivalOrder) {

  private[this] var last: UnsafeRow = _
  private[this] var kind: Byte = RowKind.Insert
  private[this] var place = 0L
  private[this] var isGone = false
  private[this] var befores: java.util.LinkedHashMap[UnsafeRow, java.lang.Long] = _

  /** Bytes that are held, by estimate. */
  var bytes: Long = 0L

  /** Whether there is a change other than `-U`. */
  def hasLast: Boolean = last != null

  /** A row with the greatest sequence; the newest row if it is known. */
  def newest: UnsafeRow = if (last != null) last else befores.keySet.iterator.next()

  /** Whether the key has no row after these changes, if one of them is the newest. */
  def isDeletion: Boolean = last == null || isGone || RowKind.isRetraction(kind)

  /** Whether a `-U` for this row came from a later place than any other change. */
  def replaces(row: UnsafeRow): Boolean = befores != null && befores.containsKey(row)

  /**
   * Adds a change.
   *
   * @param row its columns; copied if kept
   * @param at its place; within one place, rows are offered in their order
   */
  def offer(row: UnsafeRow, ofKind: Byte, at: Long): Unit = {
    val isBefore = ofKind == RowKind.UpdateBefore && !order.isByArrival
    val bySequence = if (last == null && befores == null) 1 else order.compare(row, newest)
    if (bySequence > 0) {
      befores = null
      if (isBefore) last = null
      bytes = if (last == null) 0L else last.getSizeInBytes.toLong
    }
    if (bySequence >= 0) {
      if (isBefore) replace(row, at)
      else if (bySequence > 0 || last == null || at >= place) become(row, ofKind, at)
    }
  }

  /** Adds the changes of another part of the input. */
  def merge(other: KeyChanges): Unit = other.foreach(offer)

  /** Visits the rows that are kept: the newest row, then the `-U` rows. */
  def foreach(visit: (UnsafeRow, Byte, Long) => Unit): Unit = {
    if (last != null) visit(last, kind, place)
    if (befores != null) befores.forEach((row, at) => visit(row, RowKind.UpdateBefore, at))
  }

  private def become(row: UnsafeRow, ofKind: Byte, at: Long): Unit = {
    if (last != null) bytes -= last.getSizeInBytes
    last = row.copy()
    kind = ofKind
    place = at
    bytes += last.getSizeInBytes
    if (befores != null) befores.values.removeIf(_ <= at)
    isGone = befores != null && befores.containsKey(last)
  }

  private def replace(row: UnsafeRow, at: Long): Unit =
    if (last == null || at >= place) {
      if (last != null && row == last) isGone = true
      // Later rows of the same place are newer than any `-U` before them.
      if (last == null || at > place) {
        if (befores == null) befores = new java.util.LinkedHashMap[UnsafeRow, java.lang.Long]()
        val known = befores.get(row)
        if (known != null) { val _ = befores.put(row, math.max(known, at)) }
        else {
          befores.put(row.copy(), at)
          bytes += row.getSizeInBytes + FoldLimits.overhead
        }
      }
    }
}

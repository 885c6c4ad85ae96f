package io.firesteel.changelog.fold

import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * What is known of the newest of one key's changes, which may come in any order.
 *
 * The newest is the one with the greatest sequence, and of equals the one from the last place. What an
 * update has replaced is never the newest beside another row with its sequence; but if it is the very row,
 * from a later place, that row is gone ([[ArrivalOrder]]). So beside the newest row there are kept those
 * replaced ones with its sequence which a row yet to come may be: as a rule, none.
 */
final private[changelog] class KeyChanges(order: ArrivalOrder) {

  private[this] var last: UnsafeRow = _
  private[this] var kind: Byte = RowKind.Insert
  private[this] var place = 0L
  private[this] var isGone = false
  private[this] var befores: java.util.LinkedHashMap[UnsafeRow, java.lang.Long] = _

  /** Bytes held, by estimate. */
  var bytes: Long = 0L

  /** Whether there is another change than what updates have replaced. */
  def hasLast: Boolean = last != null

  /** A row with the greatest sequence: the newest one, if that is known. */
  def newest: UnsafeRow = if (last != null) last else befores.keySet.iterator.next()

  /** Whether the key has no row after these changes, of which one is the newest. */
  def isDeletion: Boolean = last == null || isGone || RowKind.isRetraction(kind)

  /** Whether an update has replaced this row, from a later place than any other change. */
  def replaces(row: UnsafeRow): Boolean = befores != null && befores.containsKey(row)

  /**
   * Takes a change.
   *
   * @param row its columns; it is copied if it is kept
   * @param at its place: of rows from one place the later is the one that is given later
   */
  def offer(row: UnsafeRow, ofKind: Byte, at: Long): Unit = {
    val isBefore = ofKind == RowKind.UpdateBefore && !order.isByArrival
    val bySequence = if (last == null && befores == null) 1 else order.compare(row, newest)
    if (bySequence > 0) {
      befores = null
      bytes = 0L
      if (isBefore) last = null
    }
    if (bySequence >= 0) {
      if (isBefore) replace(row, at)
      else if (bySequence > 0 || last == null || at >= place) become(row, ofKind, at)
    }
  }

  /** Takes the changes of another part of the input. */
  def merge(other: KeyChanges): Unit = other.foreach(offer)

  /** Visits what is kept: the newest row before those that updates have replaced. */
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
      // Rows of the same place that come later are the newer ones, whatever was replaced before.
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

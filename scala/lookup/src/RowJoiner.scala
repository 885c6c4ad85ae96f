package io.firesteel.lookup

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BasePredicate, GenericInternalRow, JoinedRow, UnsafeProjection}

/**
 * Joins one row with its matches.
 *
 * @param condition the rest of the join's condition, over both sides; null if there is none
 * @param keepsUnmatched whether a row without a match is emitted with nulls (LEFT JOIN)
 * @param unmatched the output for a row without a match
 * @param rightWidth number of columns of the right side
 */
private[lookup] final class RowJoiner(
    condition: BasePredicate,
    keepsUnmatched: Boolean,
    rightWidth: Int,
    output: UnsafeProjection,
    unmatched: UnsafeProjection) {

  private[this] val joined = new JoinedRow
  private[this] val nulls = new GenericInternalRow(rightWidth)
  private[this] var matches: Array[_ <: InternalRow] = _
  private[this] var at = 0
  private[this] var matched = false
  private[this] var left: InternalRow = _

  /** Starts with a row, which must not change until `next` returns null. */
  def start(row: InternalRow, rows: Array[_ <: InternalRow]): Unit = {
    left = row
    matches = rows
    at = 0
    matched = false
  }

  /** The next joined row, valid until the next call; null if there is none. */
  def next(): InternalRow = {
    var found: InternalRow = null
    while (found == null && at < matches.length) {
      val both = joined(left, matches(at))
      at += 1
      if (condition == null || condition.eval(both)) {
        matched = true
        found = output(both)
      }
    }
    if (found == null && keepsUnmatched && !matched) {
      matched = true
      found = unmatched(joined(left, nulls))
    }
    found
  }
}

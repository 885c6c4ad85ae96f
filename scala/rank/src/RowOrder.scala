package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.{BaseOrdering, UnsafeRow}

/**
 * Compares binary rows as ORDER BY does.
 *
 * Signed 64-bit prefixes of the first order key are compared first. Spark's generated ordering is
 * called only if the prefixes are equal and equal prefixes do not mean equal rows.
 *
 * @param ordering the whole ORDER BY, over rows of `numFields` columns
 * @param decisive whether equal prefixes mean equal rows. Exception: the prefix `edge`, which null
 *   shares with an extreme value.
 */
private[rank] final class RowOrder(
    ordering: BaseOrdering,
    numFields: Int,
    decisive: Boolean,
    edge: Long) {

  /** Whether two rows with this prefix are equal in every order key. */
  def decides(prefix: Long): Boolean = decisive && prefix != edge

  /** Negative, zero or positive if `a` sorts before, with or after `b`. */
  def compareRows(a: UnsafeRow, b: UnsafeRow): Int = ordering.compare(a, b)

  /** A row that can point to a copy. */
  def newPointer(): UnsafeRow = new UnsafeRow(numFields)
}

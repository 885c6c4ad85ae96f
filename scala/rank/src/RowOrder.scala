package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.{BaseOrdering, UnsafeRow}

/**
 * Compares binary rows as ORDER BY does.
 *
 * A signed 64-bit prefix of the first order key goes first; Spark's generated ordering is asked only
 * when two prefixes are equal and that does not settle it.
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

  /** Whether two rows with this prefix are equal in every order key. */
  def decides(prefix: Long): Boolean = decisive && prefix != edge

  /** Negative, zero or positive as `a` goes before, with or after `b`. */
  def compareRows(a: UnsafeRow, b: UnsafeRow): Int = ordering.compare(a, b)

  /** A row that can be pointed to a copy. */
  def newPointer(): UnsafeRow = new UnsafeRow(numFields)
}

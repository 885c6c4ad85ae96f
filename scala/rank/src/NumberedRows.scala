package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Computes the three rank functions of the rows of a key, which are counted in order.
 *
 * One instance serves all keys in turn.
 */
private[rank] final class RankCounter {
  private[this] var number = 0
  private[this] var rank = 0
  private[this] var dense = 0

  /** Begins a key. */
  def reset(): Unit = {
    number = 0
    rank = 0
    dense = 0
  }

  /** Counts the next row; `tie` says whether it equals the row before it in every order key. */
  def count(tie: Boolean): Unit = {
    number += 1
    if (!tie) {
      rank = number
      dense += 1
    }
  }

  def value(function: RankFunction): Int = function match {
    case RankFunction.RowNumbers => number
    case RankFunction.Ranks => rank
    case RankFunction.DenseRanks => dense
  }

  /** Whether the row counted last satisfies `bound`. */
  def within(bound: RankBound): Boolean = value(bound.function) <= bound.limit
}

/** Rows, key by key and in order within a key, each with its ranks. */
private[rank] trait NumberedRows {

  /** Moves to the next row; false at the end. */
  def advance(): Boolean

  /** The current row, valid until the next move. */
  def row: UnsafeRow

  /** The ranks of the current row. */
  def ranks: RankCounter
}

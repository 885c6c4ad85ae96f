package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The rows of one key that may still satisfy a [[RankBound]].
 *
 * What is kept is always a superset of the answer among the rows offered so far, and exactly the
 * answer once all have been offered.
 *
 * @param hash hash of `key`
 * @param key the binary key
 */
private[rank] abstract class KeptRows(final val hash: Int, final val key: Array[Byte]) {

  /** No row with a prefix above this can be kept; the cheap question asked of every row. */
  final var bar: Long = Long.MaxValue

  /** Rows kept. */
  def size: Int

  /** Offers a row, which is copied if it is kept. Returns by how many bytes the rows held grew. */
  def offer(prefix: Long, row: UnsafeRow, order: RowOrder): Long

  /** Ends the offers: afterwards the rows can be read by place, in any order. */
  def close(): Unit = ()

  /** Puts the rows of closed offers in order. */
  def sort(order: RowOrder): Unit

  /** The i-th row, from 0 to `size - 1`. */
  def rowAt(i: Int): Array[Byte]

  /** The prefix of the i-th row. */
  def prefixAt(i: Int): Long
}

private[rank] object KeptRows {

  /** Bytes beside a row's own: its array's header and alignment, a reference and a prefix. */
  val rowOverhead: Long = 16L + 4L + 8L

  /** Bytes of a key beside its own: the object, its arrays' headers, its slot in the hash table. */
  val keyOverhead: Long = 160L

  /** How to keep the rows of one key under `bound`. */
  def factory(bound: RankBound): (Int, Array[Byte]) => KeptRows = bound match {
    case RankBound(RankFunction.RowNumbers, 1) => new FirstRow(_, _)
    case RankBound(RankFunction.RowNumbers, n) => new FirstRows(_, _, n)
    // The first distinct value is the value of rank 1.
    case RankBound(RankFunction.DenseRanks, 1) => new FirstRowsWithTies(_, _, 1)
    case RankBound(RankFunction.Ranks, n) => new FirstRowsWithTies(_, _, n)
    case RankBound(RankFunction.DenseRanks, n) => new FirstValues(_, _, n)
  }
}

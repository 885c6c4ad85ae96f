package io.firesteel.skew

/** The distinct values of one column in each group. */
private[skew] trait DistinctValues {

  /** Pairs of a group and a value. */
  def size: Int

  /** Bytes held. */
  def bytes: Long

  /** Bytes to be had for `grow`, or 0 while it need not grow. */
  def growth: Long

  /** Makes room for more pairs. */
  def grow(): Unit

  /** Hands every pair to `writer` and forgets them all. */
  def drain(column: Int, writer: BlockWriter): Unit
}

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

  /**
   * Hands some pairs to `writer`, from a place on of which the first is 0. The answer is the next
   * place, or -1 when that was the last and all pairs are forgotten. Until then nothing is added.
   */
  def drain(column: Int, writer: BlockWriter, from: Int): Int

  /** Hands every pair to `writer` and forgets them all. */
  final def drainAll(column: Int, writer: BlockWriter): Unit = {
    var from = 0
    while (from >= 0) from = drain(column, writer, from)
  }
}

private[skew] object DistinctValues {

  /** Slots of a table that are drained at a time. */
  val someSlots: Int = 1 << 12
}

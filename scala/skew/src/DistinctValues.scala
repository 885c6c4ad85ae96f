package io.firesteel.skew

/** The distinct values of one column in each group. */
private[skew] trait DistinctValues {

  /** The number of pairs of a group and a value. */
  def size: Int

  /** Bytes held. */
  def bytes: Long

  /** Bytes to reserve before `grow`; 0 while it need not grow. */
  def growth: Long

  /** Makes room for more pairs. */
  def grow(): Unit

  /**
   * Writes some pairs to `writer`, from a position that begins with 0. Returns the next position.
   * After the last pair it returns -1 and removes all pairs. Until then no pair is added.
   */
  def drain(column: Int, writer: BlockWriter, from: Int): Int

  /** Writes all pairs to `writer` and removes them. */
  final def drainAll(column: Int, writer: BlockWriter): Unit = {
    var from = 0
    while (from >= 0) from = drain(column, writer, from)
  }
}

private[skew] object DistinctValues {

  /** Slots of a table drained at a time. */
  val someSlots: Int = 1 << 12
}

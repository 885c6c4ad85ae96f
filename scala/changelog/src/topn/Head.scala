package io.firesteel.changelog.topn

/**
 * The first rows of a partition with retractions, in order.
 *
 * @param isAll whether the partition has no other rows
 */
final private[topn] case class Head(rows: Array[RankedRow], isAll: Boolean)

private[topn] object Head {

  /**
   * Rows of a head beyond the n with a place. The tail is read after so many more retractions than
   * inserts in the head. Every change of a partition reads and writes its head, so more spare rows
   * cost more.
   */
  val spare: Int = 32
}

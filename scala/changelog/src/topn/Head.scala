package io.firesteel.changelog.topn

/**
 * The first rows of a partition whose rows are taken back, in order.
 *
 * @param isAll whether the partition has no others
 */
final private[topn] case class Head(rows: Array[RankedRow], isAll: Boolean)

private[topn] object Head {

  /**
   * Rows that a head has beside those with a place. The tail is read after so many more of the head's
   * rows went than came; a head of any partition that changes is read and written.
   */
  val spare: Int = 32
}

package io.firesteel.changelog.over

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * A row of a partition, and its number of copies, before and after a micro-batch. A negative number
 * comes from retractions before their row; such a row is not there.
 */
final private[over] class OverEntry(val row: UnsafeRow, val before: Long, val after: Long) {

  /** Whether the micro-batch has changed it. */
  def isChanged: Boolean = before != after

  /** The copies that a frame counts, of a row that is not changed. */
  def copies: Long = math.max(before, 0L)
}

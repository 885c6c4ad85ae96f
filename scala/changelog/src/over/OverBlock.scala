package io.firesteel.changelog.over

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Some neighbouring rows of a partition.
 *
 * @param number its number in state; 0 if the partition has no other block
 * @param last the last of its rows in state
 * @param rows its rows, once they are read
 */
final private[over] class OverBlock(
    val number: Long,
    val last: UnsafeRow,
    var rows: Array[OverEntry]) {

  /** Whether it must be written. */
  var isChanged: Boolean = false
}

private[over] object OverBlock {

  /** More rows are split. */
  val most: Int = 256

  /** A changed block with fewer rows is joined with the one before it. */
  val fewest: Int = 32

  def ofRows(number: Long, rows: Array[OverEntry]): OverBlock =
    new OverBlock(number, rows.lastOption.map(_.row).orNull, rows)
}

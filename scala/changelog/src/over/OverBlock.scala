package io.firesteel.changelog.over

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Some neighbouring rows of a partition.
 *
 * @param number its number in state; 0 if it has none: it is the partition's only block, or new
 * @param last the last of its rows
 * @param rows its rows, once they are read
 * @param start the functions' buffers before its first row, if functions go on from there; null for
 *   the first block
 */
final private[over] class OverBlock(
    val number: Long,
    val last: UnsafeRow,
    var rows: Array[OverEntry],
    var start: UnsafeRow = null) {

  /** Whether its rows have changed. */
  var isChanged: Boolean = false

  /** The place of the first block in state of which it has rows. */
  var from: Int = 0
}

private[over] object OverBlock {

  /** More rows are split. */
  val most: Int = 256

  /** A changed block with fewer rows is joined with the one before it. */
  val fewest: Int = 32

  def ofRows(number: Long, rows: Array[OverEntry]): OverBlock =
    new OverBlock(number, rows.lastOption.map(_.row).orNull, rows)
}

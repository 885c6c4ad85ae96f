package io.firesteel.changelog.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * Groups that the watermark has closed: it has reached their time, or the end of their window, as
 * in Spark's own operators. Their rows are late and are dropped. Their state is evicted, and
 * nothing is emitted for it: the result keeps their last rows.
 *
 * @param keyAt place of the time in a key of the state
 * @param rowAt place of the time in a row of the input; -1 if the operator computes the time
 * @param time type of the time: a timestamp, or a window, whose end is its second field
 * @param after how long after that time a group closes, in microseconds; for a window's start, its
 *   size
 */
final private[changelog] case class ClosedGroups(
    keyAt: Int,
    rowAt: Int,
    time: DataType,
    after: Long,
    watermarkMs: Long) {

  private val isWindow = time.isInstanceOf[StructType]
  private val micros = watermarkMs * 1000 - after

  /** Whether the group of a state key is closed. */
  def isOf(key: InternalRow): Boolean = isClosed(key, keyAt)

  /** Whether the watermark has reached a time in microseconds. */
  def isOver(time: Long): Boolean = time <= micros

  /** Rows of open groups; counts the late rows. */
  def inTime(rows: Iterator[InternalRow], late: SQLMetric): Iterator[InternalRow] =
    if (rowAt < 0) rows
    else rows.filter { row =>
      val open = !isClosed(row, rowAt)
      if (!open) late += 1
      open
    }

  private def isClosed(row: InternalRow, at: Int): Boolean = !row.isNullAt(at) && {
    if (isWindow) isOver(row.getStruct(at, 2).getLong(1)) else isOver(row.getLong(at))
  }
}

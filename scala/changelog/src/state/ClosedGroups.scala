package io.firesteel.changelog.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * Groups of which the watermark says that no more rows come: those whose time, or whose window's end,
 * it has reached, as in Spark's own operators. Their rows are late and not looked at, and their state
 * goes; what was told of them stays.
 *
 * @param keyAt place of the time in a key of the state
 * @param rowAt place of the time in a row of the input
 * @param time type of the time: a timestamp, or a window with its end in second place
 * @param after how long after that time a group is closed, in microseconds: of a window's start its size
 */
final private[changelog] case class ClosedGroups(
    keyAt: Int,
    rowAt: Int,
    time: DataType,
    after: Long,
    watermarkMs: Long) {

  private val isWindow = time.isInstanceOf[StructType]
  private val micros = watermarkMs * 1000 - after

  /** Whether a key of the state is of a group that is closed. */
  def isOf(key: InternalRow): Boolean = isClosed(key, keyAt)

  /** Rows of groups that are open; counts the others. */
  def inTime(rows: Iterator[InternalRow], late: SQLMetric): Iterator[InternalRow] =
    rows.filter { row =>
      val open = !isClosed(row, rowAt)
      if (!open) late += 1
      open
    }

  private def isClosed(row: InternalRow, at: Int): Boolean = !row.isNullAt(at) && {
    if (isWindow) row.getStruct(at, 2).getLong(1) <= micros else row.getLong(at) <= micros
  }
}

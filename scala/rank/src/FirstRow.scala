package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** `ROW_NUMBER() = 1`: one row and no heap. */
private[rank] final class FirstRow(hash: Int, key: Array[Byte]) extends KeptRows(hash, key) {

  private[this] var prefix: Long = 0L
  private[this] var row: Array[Byte] = _

  override def size: Int = if (row == null) 0 else 1

  override def offer(newPrefix: Long, newRow: UnsafeRow, order: RowOrder): Long =
    if (row == null) {
      keep(newPrefix, newRow, order)
      row.length + KeptRows.rowOverhead
    } else if (order.compareKept(prefix, row, newPrefix, newRow) > 0) {
      val before = row.length
      keep(newPrefix, newRow, order)
      (row.length - before).toLong
    } else 0L

  private def keep(newPrefix: Long, newRow: UnsafeRow, order: RowOrder): Unit = {
    row = RowOrder.copy(newRow, row)
    prefix = newPrefix
    bar = if (order.decides(prefix) && prefix != Long.MinValue) prefix - 1 else prefix
  }

  override def sort(order: RowOrder): Unit = ()

  override def rowAt(i: Int): Array[Byte] = row

  override def prefixAt(i: Int): Long = prefix
}

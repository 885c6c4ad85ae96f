package io.firesteel.rank

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.unsafe.Platform

/**
 * Numbers rows that are sorted by key and order, and drops those beyond the bound.
 *
 * Memory: one key and one row, for groups and ties of any size.
 *
 * @param keyOf the binary key of a row; it reuses its result
 */
private[rank] final class NumberedSortedRows(
    input: Iterator[InternalRow],
    keyOf: UnsafeProjection,
    order: RowOrder,
    bound: RankBound)
  extends NumberedRows {

  private[this] val key = new KeptCopy
  private[this] val previous = new KeptCopy

  private[this] var current: UnsafeRow = _

  override def row: UnsafeRow = current
  override val ranks: RankCounter = new RankCounter

  override def advance(): Boolean = {
    var found = false
    while (!found && input.hasNext) {
      val row = input.next().asInstanceOf[UnsafeRow]
      current = row
      val itsKey = keyOf(row)
      val newKey = !key.holds(itsKey)
      if (newKey) {
        key.keep(itsKey)
        ranks.reset()
      }
      // Beyond the bound the rest of a key is worse: skip it without a comparison.
      if (newKey || ranks.within(bound)) {
        val tie = !newKey && order.compareRows(previous.row, row) == 0
        ranks.count(tie)
        if (!tie) previous.keep(row)
        found = ranks.within(bound)
      }
    }
    found
  }
}

/** A copy of a row in a reused buffer. */
private[rank] final class KeptCopy {
  private[this] var bytes: Array[Byte] = Array.emptyByteArray
  var row: UnsafeRow = _

  def keep(source: UnsafeRow): Unit = {
    val size = source.getSizeInBytes
    if (bytes.length < size) bytes = new Array[Byte](size * 2)
    Platform.copyMemory(
      source.getBaseObject,
      source.getBaseOffset,
      bytes,
      Platform.BYTE_ARRAY_OFFSET,
      size.toLong)
    if (row == null) row = new UnsafeRow(source.numFields())
    row.pointTo(bytes, size)
  }

  def holds(other: UnsafeRow): Boolean = row != null && row.equals(other)
}

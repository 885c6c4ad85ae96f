package io.firesteel.skew

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow

/** A column with counts only. They need the number of values, not the values. */
private[skew] final class CountedColumn(
    isNumber: Boolean,
    groups: Groups,
    salt: Long,
    functions: Int)
  extends MergeColumn(isNumber, groups, salt) {

  private[this] var counts = new Array[Long](64)
  private[this] val row = new GenericInternalRow(functions)

  override def bytes: Long = values.bytes + counts.length * 8L

  override def state(group: Int): InternalRow = {
    val count: Any = if (group < counts.length) counts(group) else 0L
    (0 until functions).foreach(row.update(_, count))
    row
  }

  override def forget(): Unit = counts = new Array[Long](64)

  override def numbers(group: Int, chunk: Long, mask: Int): Unit =
    count(group, Integer.bitCount(mask))

  override protected def newBytes(group: Int, base: AnyRef, offset: Long, length: Int): Unit =
    count(group, 1)

  private def count(group: Int, more: Int): Unit = {
    if (group >= counts.length)
      counts = Arrays.copyOf(counts, math.max(group + 1, counts.length * 2))
    counts(group) += more.toLong
  }
}

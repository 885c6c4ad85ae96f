package io.firesteel.skew

import io.firesteel.core.rows.MergeableAggregates
import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** A column whose functions need each value. */
private[skew] final class ComputedColumn(
    isNumber: Boolean,
    groups: Groups,
    salt: Long,
    functions: MergeableAggregates,
    fields: Int)
  extends MergeColumn(isNumber, groups, salt) {

  private[this] var buffers = new Array[InternalRow](64)
  private[this] lazy val empty = functions.newBuffer()
  private[this] val value = new UnsafeRow(fields)
  if (isNumber) value.pointTo(new Array[Byte](16), 16)
  private[this] var known = 0

  // A list grows by an object for each value. Spark's own aggregates do not count it.
  private[this] val listBytes = if (functions.isFixed) 0L else 48L

  override def bytes: Long = values.bytes + values.size * listBytes + buffers.length * 8L +
    known * (48L + 16L * functions.stateAttributes.size)

  override def state(group: Int): InternalRow =
    functions.state(if (group < buffers.length && buffers(group) != null) buffers(group) else empty)

  override def forget(): Unit = {
    buffers = new Array[InternalRow](64)
    known = 0
  }

  override def numbers(group: Int, chunk: Long, mask: Int): Unit = {
    var left = mask
    while (left != 0) {
      value.setLong(0, DistinctNumbers.numberOf(chunk, left))
      functions.update(buffer(group), value)
      left &= left - 1
    }
  }

  override protected def newBytes(group: Int, base: AnyRef, offset: Long, length: Int): Unit = {
    value.pointTo(base, offset, length)
    functions.update(buffer(group), value)
  }

  private def buffer(group: Int): InternalRow = {
    if (group >= buffers.length)
      buffers = Arrays.copyOf(buffers, math.max(group + 1, buffers.length * 2))
    if (buffers(group) == null) {
      buffers(group) = functions.newBuffer()
      known += 1
    }
    buffers(group)
  }
}

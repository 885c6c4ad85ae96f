package io.firesteel.changelog.aggregate.slots

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, LongType}

/**
 * The number of values and of buckets of a set in the store: see [[ValueBuckets]]. With a time to
 * live the number of values is an estimate; it is 0 only if the set is empty.
 */
final private[aggregate] class SetSlot extends Slot {

  override val fields: Seq[(String, DataType)] = Seq("values" -> LongType, "buckets" -> LongType)

  def values(state: GroupState): Long = state.longs(longAt)

  def add(state: GroupState, values: Long): Unit = state.longs(longAt) += values

  /** Raises the number of values to at least `values`. */
  def raise(state: GroupState, values: Long): Unit =
    state.longs(longAt) = math.max(state.longs(longAt), values)

  def buckets(state: GroupState): Int = state.longs(longAt + 1).toInt

  def setBuckets(state: GroupState, buckets: Int): Unit = state.longs(longAt + 1) = buckets.toLong

  def clear(state: GroupState): Unit = setBuckets(state, 0)

  // Rows do not change it: their effect is known after the store was read.
  override def add(state: GroupState, row: InternalRow, sign: Int): Unit = ()

  override def merge(state: GroupState, row: InternalRow, at: Int): Unit = {
    add(state, row.getLong(at))
    state.longs(longAt + 1) += row.getLong(at + 1)
  }

  override def write(state: GroupState, row: InternalRow, at: Int): Unit = {
    row.setLong(at, values(state))
    row.setLong(at + 1, buckets(state).toLong)
  }
}

package io.firesteel.changelog.aggregate.slots

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, LongType}

/**
 * The state of a group while it is worked on.
 *
 * @param longs numbers of all slots, in order
 * @param refs values of all slots that are no numbers, in order
 */
final private[aggregate] class GroupState(val longs: Array[Long], val refs: Array[Any])

/**
 * One part of a group's state that is kept up to date row by row, such as a sum. Several aggregates
 * may read the same slot: `sum(v)` and `avg(v)` one sum.
 *
 * A slot that sees retractions forms a group in the sense of algebra: what is taken back leaves
 * nothing behind, and the order of rows is of no matter.
 */
private[aggregate] trait Slot extends Serializable {

  /** Columns of the state: name and type; numbers first, then others. */
  def fields: Seq[(String, DataType)]

  /** Where the slot's own numbers and values begin. */
  var longAt: Int = 0
  var refAt: Int = 0

  /** How many numbers and how many other values it has. */
  def longs: Int = fields.count(_._2 == LongType)
  def refs: Int = fields.size - longs

  /** Adds a row (`sign` 1) or takes one back (-1). */
  def add(state: GroupState, row: InternalRow, sign: Int): Unit

  /** Adds what another task has summed up, in columns from `at` on. */
  def merge(state: GroupState, row: InternalRow, at: Int): Unit

  /** Writes the columns of the slot from `at` on. */
  def write(state: GroupState, row: InternalRow, at: Int): Unit

  /** Whether it is as if no row had come. */
  def isZero(state: GroupState): Boolean =
    (longAt until longAt + longs).forall(state.longs(_) == 0L)
}

/** How many rows have all of `columns`. */
final private[aggregate] class CountSlot(columns: Array[Int]) extends Slot {

  override val fields: Seq[(String, DataType)] = Seq("count" -> LongType)

  override def add(state: GroupState, row: InternalRow, sign: Int): Unit = {
    var i = 0
    while (i < columns.length && !row.isNullAt(columns(i))) i += 1
    if (i == columns.length) state.longs(longAt) += sign
  }

  override def merge(state: GroupState, row: InternalRow, at: Int): Unit =
    state.longs(longAt) += row.getLong(at)

  override def write(state: GroupState, row: InternalRow, at: Int): Unit =
    row.setLong(at, state.longs(longAt))

  def count(state: GroupState): Long = state.longs(longAt)
}

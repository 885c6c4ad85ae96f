package io.firesteel.changelog.aggregate.slots

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, LongType}

/**
 * One part of a group's state that is updated row by row, such as a sum. Several aggregates may
 * read one slot: `sum(v)` and `avg(v)` read one sum.
 *
 * A slot that supports retraction is a commutative group in the algebraic sense: an insert and its
 * retraction cancel out, and the order of rows does not matter.
 */
private[aggregate] trait Slot extends Serializable {

  /** Columns of the state: name and type; numbers first, then others. */
  def fields: Seq[(String, DataType)]

  /** Index of the slot's first number, and of its first other value. */
  var longAt: Int = 0
  var refAt: Int = 0

  /** How many numbers and how many other values the slot has. */
  def longs: Int = fields.count(_._2 == LongType)
  def refs: Int = fields.size - longs

  /** Inserts a row (`sign` 1) or retracts it (-1). */
  def add(state: GroupState, row: InternalRow, sign: Int): Unit

  /** Merges the partial result of another task, in columns from `at` on. */
  def merge(state: GroupState, row: InternalRow, at: Int): Unit

  /** Takes away a partial result that was merged before. */
  def retract(state: GroupState, row: InternalRow, at: Int): Unit =
    throw new IllegalStateException(s"$this cannot take a partial result away")

  /** Whether `retract` is possible. */
  def hasInverse: Boolean = false

  /** Makes the slot as before its first row. */
  final def reset(state: GroupState): Unit = {
    (longAt until longAt + longs).foreach(state.longs(_) = 0L)
    (refAt until refAt + refs).foreach(state.refs(_) = null)
  }

  /** Writes the slot's columns from `at` on. */
  def write(state: GroupState, row: InternalRow, at: Int): Unit

  /** Whether the slot is as before its first row. */
  def isZero(state: GroupState): Boolean =
    (longAt until longAt + longs).forall(state.longs(_) == 0L)
}

/** The number of rows without a null in `columns`. */
final private[aggregate] class CountSlot(columns: Array[Int]) extends Slot {

  override val fields: Seq[(String, DataType)] = Seq("count" -> LongType)

  override def add(state: GroupState, row: InternalRow, sign: Int): Unit = {
    var i = 0
    while (i < columns.length && !row.isNullAt(columns(i))) i += 1
    if (i == columns.length) state.longs(longAt) += sign
  }

  override def merge(state: GroupState, row: InternalRow, at: Int): Unit =
    state.longs(longAt) += row.getLong(at)

  override def hasInverse: Boolean = true

  override def retract(state: GroupState, row: InternalRow, at: Int): Unit =
    state.longs(longAt) -= row.getLong(at)

  override def write(state: GroupState, row: InternalRow, at: Int): Unit =
    row.setLong(at, state.longs(longAt))

  def count(state: GroupState): Long = state.longs(longAt)

  def set(state: GroupState, count: Long): Unit = state.longs(longAt) = count
}

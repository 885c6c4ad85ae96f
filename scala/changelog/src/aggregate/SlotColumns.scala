package io.firesteel.changelog.aggregate

import io.firesteel.changelog.aggregate.slots.{GroupState, Slot}

import org.apache.spark.sql.catalyst.InternalRow

/**
 * Some slots of a group, and where their columns are in rows of one kind.
 *
 * @param at place of each slot's first column
 */
final private[aggregate] class SlotColumns(slots: Array[Slot], at: Array[Int])
  extends Serializable {

  def nonEmpty: Boolean = slots.nonEmpty

  /** Adds a row's partial results to a group. */
  def merge(state: GroupState, row: InternalRow): Unit = {
    var i = 0
    while (i < slots.length) {
      slots(i).merge(state, row, at(i))
      i += 1
    }
  }

  /** Takes partial results away that were merged before. */
  def retract(state: GroupState, row: InternalRow): Unit = {
    var i = 0
    while (i < slots.length) {
      slots(i).retract(state, row, at(i))
      i += 1
    }
  }

  def write(state: GroupState, row: InternalRow): Unit = {
    var i = 0
    while (i < slots.length) {
      slots(i).write(state, row, at(i))
      i += 1
    }
  }

  /** Makes the slots as before the first row. */
  def reset(state: GroupState): Unit = slots.foreach(_.reset(state))
}

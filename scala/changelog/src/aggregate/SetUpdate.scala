package io.firesteel.changelog.aggregate

import io.firesteel.changelog.aggregate.slots.{BestValuesSlot, GroupState}
import io.firesteel.changelog.fold.ValueTallies
import io.firesteel.core.rows.KeyIndex
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Updates the sets of values of one group, and the slots that depend on them. One per task.
 *
 * A value is present if its number of rows is above 0. Within a micro-batch a retraction may arrive
 * before its insert: the number is then negative for a while, and the value absent.
 */
final private[aggregate] class SetUpdate(layout: AggregateLayout, buckets: ValueBuckets) {

  // Slots that have lost all of their best values.
  private[this] val lost = new java.util.IdentityHashMap[BestValuesSlot, AnyRef]()
  private[this] val number = KeyIndex.numberRow()

  /** Adds the tallies `changed(from until until)` of a set. */
  def apply(
      group: UnsafeRow,
      state: GroupState,
      set: Int,
      changes: ValueTallies,
      changed: Array[Int],
      from: Int,
      until: Int): Unit = {
    val of = layout.sets(set)
    lost.clear()
    buckets.add(group, state, set, changes, changed, from, until) {
      (values, entry, before, after) =>
        if (before <= 0 && after > 0) appear(of, state, valueOf(values, entry))
        else if (before > 0 && after <= 0) vanish(of, state, valueOf(values, entry))
        // It has expired, but may be among the best values.
        else if (before <= 0 && after <= before) leave(of, state, valueOf(values, entry))
    }
    lost.keySet.forEach(slot => search(group, state, set, slot))
    of.retained.foreach { slot =>
      slot.compute(
        state,
        visit =>
          buckets.foreach(group, state, set) { (values, entry) =>
            visit(valueOf(values, entry), values.count(entry))
          })
    }
  }

  private def appear(set: ValueSet, state: GroupState, value: InternalRow): Unit = {
    set.fed.foreach(_.add(state, value, 1))
    set.extremes.foreach(_.appear(state, value.get(0, set.types.head)))
  }

  private def vanish(set: ValueSet, state: GroupState, value: InternalRow): Unit = {
    set.fed.foreach(_.add(state, value, -1))
    leave(set, state, value)
  }

  private def leave(set: ValueSet, state: GroupState, value: InternalRow): Unit =
    set.extremes.foreach { slot =>
      if (slot.vanish(state, value.get(0, set.types.head))) { val _ = lost.put(slot, slot) }
    }

  /** Reads all values of the group: O(their number), only after the best values were retracted. */
  private def search(group: UnsafeRow, state: GroupState, set: Int, slot: BestValuesSlot): Unit =
    slot.search(
      state,
      visit =>
        buckets.foreach(group, state, set) { (values, entry) =>
          visit(valueOf(values, entry).get(0, layout.sets(set).types.head))
        })

  private def valueOf(values: ValueTallies, entry: Int): InternalRow =
    if (values.isNumber) {
      number.setLong(0, values.number(entry))
      number
    } else values.row(entry)
}

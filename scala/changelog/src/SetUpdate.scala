package io.firesteel.changelog

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.StateStore

/**
 * Brings the sets of values of one group up to date, and the slots that are fed by them.
 *
 * A value is there while it has more rows than none. Within a micro-batch a retraction may arrive
 * before the row that it takes back: the count is then negative for a while, and the value absent.
 */
final private[changelog] class SetUpdate(
    layout: AggregateLayout,
    made: AggregateRows,
    store: StateStore,
    counts: StateCounts) {

  def apply(groupKey: UnsafeRow, state: GroupState, values: Tally.Map): Unit = {
    // Whether a slot's smallest or largest value went away.
    val lost = new java.util.IdentityHashMap[ExtremeSlot, AnyRef]()
    values.forEach { (key, tally) =>
      if (tally.count != 0L) {
        val set = layout.sets(key.getInt(layout.setAt))
        val before = countOf(key)
        val after = before + tally.count
        write(key, after)
        if (before <= 0 && after > 0) appear(set, state, key, lost)
        else if (before > 0 && after <= 0) vanish(set, state, key, lost)
      }
    }
    lost.keySet.forEach(slot => search(groupKey, state, slot))
  }

  private def countOf(key: UnsafeRow): Long = {
    val stored = store.get(key)
    if (stored == null) 0L else stored.getLong(0)
  }

  private def write(key: UnsafeRow, count: Long): Unit =
    if (count == 0L) {
      store.remove(key)
      counts.removed += 1
    } else {
      store.put(key, made.valueOf(count))
      counts.updated += 1
    }

  private def appear(
      set: ValueSet,
      state: GroupState,
      key: UnsafeRow,
      lost: java.util.IdentityHashMap[ExtremeSlot, AnyRef]): Unit = {
    set.fed.foreach(_.add(state, key, 1))
    set.extremes.foreach { slot =>
      val best = slot.value(state)
      slot.add(state, key, 1)
      // Better than what went: nothing that stayed can be better still.
      if (slot.value(state) != best) { val _ = lost.remove(slot) }
    }
  }

  private def vanish(
      set: ValueSet,
      state: GroupState,
      key: UnsafeRow,
      lost: java.util.IdentityHashMap[ExtremeSlot, AnyRef]): Unit = {
    set.fed.foreach(_.add(state, key, -1))
    set.extremes.foreach { slot =>
      val gone = key.get(set.at, set.types.head)
      if (slot.value(state) != null && !slot.isBetter(slot.value(state), gone)) {
        val _ = lost.put(slot, slot)
      }
    }
  }

  /** Looks through all values of the group: O(their number), only when the best one went. */
  private def search(groupKey: UnsafeRow, state: GroupState, slot: ExtremeSlot): Unit = {
    val set = layout.sets.indexWhere(_.extremes.exists(_ eq slot))
    slot.clear(state)
    val entries = store.prefixScan(made.prefixOf(groupKey, set))
    try {
      while (entries.hasNext) {
        val entry = entries.next()
        if (entry.value.getLong(0) > 0) slot.add(state, entry.key: InternalRow, 1)
      }
    } finally entries.close()
  }
}

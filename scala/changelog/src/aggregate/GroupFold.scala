package io.firesteel.changelog.aggregate

import io.firesteel.changelog.aggregate.slots.GroupState
import io.firesteel.changelog.fold.{FoldIterator, FoldLimits, PackedValues, ValueTallies}
import io.firesteel.changelog.state.StateEntries
import io.firesteel.core.rows.KeyIndex

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeRow}

/**
 * Adds the partial results of the tasks below to the groups' state: one access to a group's entry
 * per micro-batch.
 */
abstract private[aggregate] class GroupFold(
    rows: Iterator[InternalRow],
    limits: FoldLimits,
    layout: AggregateLayout,
    entries: StateEntries)
  extends FoldIterator(rows, limits) {

  private[this] val keyWidth = layout.keyTypes.size
  private[this] val keys = layout.keyTypes.take(layout.numKeys).zipWithIndex.map { case (t, i) =>
    BoundReference(i, t, nullable = true)
  }
  private[this] val groups = new KeyIndex(KeyIndex.isNumber(keys), keys.size)
  private[this] val number = layout.keyNumber
  private[this] val states = layout.newStates()
  private[this] val values = layout.sets.map(set => new ValueTallies(set.isNumber))
  protected val made = new AggregateRows(layout)
  private[this] val buckets = new ValueBuckets(layout, made, entries, layout.countsRows)
  private[this] val sets = new SetUpdate(layout, buckets)

  // Bytes of variable size: entries, previous results, added values.
  private[this] var large = 0L

  /** A group was found, or begins, with this state; `stored` is null if it begins. */
  protected def loaded(key: UnsafeRow, state: GroupState, stored: UnsafeRow): Unit

  /** A group is about to change. */
  protected def changing(group: Int, key: UnsafeRow): Unit = ()

  /** A group has changed in the store; returns what is emitted for it. */
  protected def changed(group: Int, key: UnsafeRow, state: GroupState): List[InternalRow]

  /** What is emitted when all groups have changed in the store. */
  protected def settled(): Iterator[InternalRow] = Iterator.empty

  /** Nothing is held any more. */
  protected def emptied(): Unit = ()

  override protected def held: Int = {
    var (sum, set) = (states.size, 0)
    while (set < values.length) {
      sum += values(set).size
      set += 1
    }
    sum
  }

  override protected def bytes: Long = {
    var (sum, set) = (groups.bytes + states.size * layout.stateBytes * 2 + large, 0)
    while (set < values.length) {
      sum += values(set).bytes
      set += 1
    }
    sum
  }

  override protected def fold(delta: InternalRow): Unit = {
    val group = delta match {
      case unsafe: UnsafeRow if number != null =>
        known(if (number.isNull(unsafe)) groups.ofNull() else groups.of(number(unsafe)))
      case _ => groupOf(made.groupKeyOf(delta))
    }
    if (layout.hasSet && delta.getInt(layout.setAt) != AggregateLayout.ofGroup) {
      val set = delta.getInt(layout.setAt)
      val packed = delta.getBinary(keyWidth + layout.valuesAt)
      PackedValues.unpack(packed, layout.sets(set).types.size, group, values(set))
    } else {
      if (layout.hasGrowing) large += FoldLimits.bytesOf(delta)
      layout.mergeDelta(states(group), delta)
    }
  }

  protected def groupOf(key: UnsafeRow): Int = known(groups.of(key))

  /** Loads the state of a group that is new. */
  private def known(group: Int): Int = {
    if (group == states.size) load(groups.key(group))
    group
  }

  /** Loads a group's state. */
  private def load(key: UnsafeRow): Unit = {
    val state = states.add()
    val stored = entries.get(made.entryOf(key))
    if (stored != null) {
      if (layout.isOfAnySize) large += 2L * stored.getSizeInBytes
      layout.mergeValue(state, stored)
    }
    loaded(key, state, stored)
  }

  override protected def drain(): Iterator[InternalRow] = {
    val changed = values.map(_.byGroup(states.size))
    Iterator.range(0, states.size).flatMap(settle(_, changed)).concat(settled()).concat(clear())
  }

  /** Updates a group's entries. */
  private def settle(group: Int, tallies: Array[(Array[Int], Array[Int])]): List[InternalRow] = {
    val (key, state) = (groups.key(group), states(group))
    changing(group, key)
    var set = 0
    while (set < tallies.length) {
      val (order, starts) = tallies(set)
      if (starts(group) < starts(group + 1)) {
        sets(key, state, set, values(set), order, starts(group), starts(group + 1))
      }
      set += 1
    }
    val rows = layout.rows.count(state)
    val now =
      if (entries.present(rows) == rows) state
      else {
        // More rows were retracted than are in state: drop the group and its values.
        layout.sets.indices.foreach(buckets.forget(key, state, _))
        layout.newState()
      }
    changed(group, key, now)
  }

  private def clear(): Iterator[InternalRow] = {
    groups.clear()
    states.clear()
    large = 0L
    values.foreach(_.clear())
    emptied()
    Iterator.empty
  }
}

package io.firesteel.changelog.aggregate

import io.firesteel.changelog.aggregate.slots.GroupState
import io.firesteel.changelog.fold.{FoldIterator, FoldLimits, PackedValues, ValueTallies}
import io.firesteel.changelog.state.StateEntries
import io.firesteel.core.changes.RowKind
import io.firesteel.core.rows.KeyIndex

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeRow}

/**
 * Adds the partial results of the tasks below to the groups' state, and emits the change of each
 * group's result: one access to a group's entry and at most one change of its result per
 * micro-batch.
 *
 * @param whole the key of the only group, which exists before any row arrives
 * @param once whether a group's result is emitted once, when the watermark closes the group
 */
final private[aggregate] class FinalAggregate(
    rows: Iterator[InternalRow],
    limits: FoldLimits,
    layout: AggregateLayout,
    results: GroupResults,
    updateBefore: Boolean,
    whole: Option[UnsafeRow],
    once: Boolean,
    entries: StateEntries)
  extends FoldIterator(rows, limits) {

  private[this] val keyWidth = layout.keyTypes.size
  private[this] val keys = layout.keyTypes.take(layout.numKeys).zipWithIndex.map { case (t, i) =>
    BoundReference(i, t, nullable = true)
  }
  private[this] val groups = new KeyIndex(KeyIndex.isNumber(keys), keys.size)
  private[this] val states = ArrayBuffer.empty[GroupState]
  private[this] val before = ArrayBuffer.empty[UnsafeRow]
  private[this] val values = layout.sets.map(set => new ValueTallies(set.isNumber))
  private[this] val made = new AggregateRows(layout)
  private[this] val buckets = new ValueBuckets(layout, made, entries)
  private[this] val sets = new SetUpdate(layout, buckets)
  private[this] var large =
    0L // bytes of variable size: entries, previous results, added values

  // An aggregate without keys has a result before its first input row.
  whole.foreach(groupOf)

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
    val group = groupOf(made.groupKeyOf(delta))
    if (layout.hasSet && delta.getInt(layout.setAt) != AggregateLayout.ofGroup) {
      val set = delta.getInt(layout.setAt)
      val packed = delta.getBinary(keyWidth + layout.valuesAt)
      PackedValues.unpack(packed, layout.sets(set).types.size, group, values(set))
    } else {
      if (layout.hasGrowing) large += FoldLimits.bytesOf(delta)
      layout.mergeDelta(states(group), delta)
    }
  }

  private def groupOf(key: UnsafeRow): Int = {
    val group = groups.of(key)
    if (group == states.size) load(key)
    group
  }

  /** Loads a group's state and its last emitted result. */
  private def load(key: UnsafeRow): Unit = {
    val state = layout.newState()
    val stored = entries.get(made.entryOf(key))
    if (stored != null) {
      if (layout.isOfAnySize) large += 2L * stored.getSizeInBytes
      layout.mergeValue(state, stored)
    }
    val exists =
      !once && (if (layout.isGlobal) stored != null else layout.rows.count(state) > 0)
    states += state
    before += (if (exists) result(key, state) else null)
  }

  /** The result row of a group, without its row kind. */
  private def result(key: UnsafeRow, state: GroupState): UnsafeRow = results.of(key, state).copy()

  override protected def drain(): Iterator[InternalRow] = {
    val changed = values.map(_.byGroup(states.size))
    val all = states.indices.iterator
    val told = all.flatMap { group => settle(group, changed) }
    told.concat(emptied())
  }

  /** Updates a group's entries; returns the changes of its result. */
  private def settle(group: Int, changed: Array[(Array[Int], Array[Int])]): List[InternalRow] = {
    val (key, state) = (groups.key(group), states(group))
    var set = 0
    while (set < changed.length) {
      val (order, starts) = changed(set)
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
    put(key, now)
    val exists = layout.isGlobal || rows > 0
    if (once) Nil else changes(before(group), if (exists) result(key, asRead(now)) else null)
  }

  /**
   * The state as the next micro-batch reads it, to retract this result. A write and a read may
   * change Spark's buffers: a `collect_set` gets another order.
   */
  private def asRead(state: GroupState): GroupState =
    if (!layout.hasMerged) state
    else {
      val read = layout.newState()
      layout.mergeValue(read, made.valueOf(state))
      read
    }

  private def put(key: UnsafeRow, state: GroupState): Unit = {
    val entry = made.entryOf(key)
    if (!layout.isGlobal && layout.isZero(state)) entries.remove(entry)
    else entries.put(entry, made.valueOf(state))
  }

  private def changes(before: UnsafeRow, after: UnsafeRow): List[InternalRow] =
    if (before == null && after == null) Nil
    else if (before == null) List(kind(after, RowKind.Insert))
    else if (after == null) List(kind(before, RowKind.Delete))
    else if (before == after) Nil
    else if (updateBefore) {
      List(kind(before, RowKind.UpdateBefore), kind(after, RowKind.UpdateAfter))
    } else List(kind(after, RowKind.UpdateAfter))

  private def kind(row: UnsafeRow, kind: Byte): UnsafeRow = {
    row.setByte(row.numFields - 1, kind)
    row
  }

  private def emptied(): Iterator[InternalRow] = {
    groups.clear()
    states.clear()
    before.clear()
    large = 0L
    values.foreach(_.clear())
    Iterator.empty
  }
}

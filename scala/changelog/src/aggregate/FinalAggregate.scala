package io.firesteel.changelog.aggregate

import io.firesteel.changelog.aggregate.slots.GroupState
import io.firesteel.changelog.fold.{FoldLimits, ResultChange}
import io.firesteel.changelog.state.StateEntries

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Adds partial results to the groups' state, and emits the change of each group's result: at most
 * one per micro-batch.
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
  extends GroupFold(rows, limits, layout, entries) {

  private[this] val before = ArrayBuffer.empty[UnsafeRow]

  // An aggregate without keys has a result before its first input row.
  whole.foreach(groupOf)

  override protected def loaded(key: UnsafeRow, state: GroupState, stored: UnsafeRow): Unit = {
    val exists =
      !once && (if (layout.isGlobal) stored != null else layout.rows.count(state) > 0)
    before += (if (exists) result(key, state) else null)
  }

  /** The result row of a group, without its row kind. */
  private def result(key: UnsafeRow, state: GroupState): UnsafeRow = results.of(key, state).copy()

  override protected def changed(
      group: Int,
      key: UnsafeRow,
      state: GroupState): List[InternalRow] = {
    if (!layout.countsGroups && layout.rows.count(state) > 1L) layout.rows.set(state, 1L)
    val exists = layout.isGlobal || layout.rows.count(state) > 0
    val change =
      if (once) Nil
      else ResultChange(
        before(group),
        if (exists) result(key, asRead(state)) else null,
        updateBefore)
    put(key, state, mayBeStored = !once && change.isEmpty && !entries.expires)
    change
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

  /** A write costs more than a read, and goes into the checkpoint. */
  private def put(key: UnsafeRow, state: GroupState, mayBeStored: Boolean): Unit = {
    val entry = made.entryOf(key)
    if (!layout.isGlobal && layout.isZero(state)) entries.remove(entry)
    else {
      val value = made.valueOf(state)
      if (!mayBeStored || value != entries.get(entry)) entries.put(entry, value)
    }
  }

  override protected def emptied(): Unit = before.clear()
}

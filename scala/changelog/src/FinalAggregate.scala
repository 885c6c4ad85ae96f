package io.firesteel.changelog

import io.firesteel.core.RowKind
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.streaming.state.StateStore

/** Counts of what happened to a store. */
final private[changelog] case class StateCounts(updated: SQLMetric, removed: SQLMetric)

/**
 * Adds what the tasks below summed up to the groups' state, and tells how each group's result
 * changed: one access to a group's entry and at most one change of its result in a micro-batch.
 *
 * @param results what makes the result row of a group's key and its functions' buffers; its last
 *   column is the kind
 * @param whole the key of the one group that is there before any row comes
 */
final private[changelog] class FinalAggregate(
    rows: Iterator[InternalRow],
    limit: Int,
    layout: AggregateLayout,
    results: UnsafeProjection,
    updateBefore: Boolean,
    whole: Option[UnsafeRow],
    store: StateStore,
    counts: StateCounts)
  extends FoldIterator(rows, limit) {

  final private class Group(val key: UnsafeRow, val state: GroupState, val before: UnsafeRow) {
    val values = new Tally.Map()
  }

  private[this] val groups = new java.util.LinkedHashMap[UnsafeRow, Group]()
  private[this] val made = new AggregateRows(layout)
  private[this] val keyWidth = layout.keyTypes.size
  private[this] val buffer = new GenericInternalRow(layout.results.map(_.width).sum)
  private[this] val joined = new JoinedRow
  private[this] var values = 0

  // The one row of an aggregate without keys is there before any row of its input.
  whole.foreach(groupOf)

  override protected def held: Int = groups.size + values

  override protected def fold(delta: InternalRow): Unit = {
    val group = groupOf(made.groupKeyOf(delta))
    if (layout.hasSet && delta.getInt(layout.setAt) != AggregateLayout.ofGroup) {
      val before = group.values.size
      Tally.add(group.values, made.entryKeyOf(delta), delta.getLong(keyWidth))
      values += group.values.size - before
    } else layout.merge(group.state, delta, keyWidth)
  }

  private def groupOf(key: UnsafeRow): Group = {
    val known = groups.get(key)
    if (known != null) known
    else {
      val own = key.copy()
      val group = load(own)
      groups.put(own, group)
      group
    }
  }

  private def load(key: UnsafeRow): Group = {
    val state = layout.newState()
    val stored = store.get(made.entryOf(key))
    if (stored != null) layout.merge(state, stored, 0)
    val exists = if (layout.isGlobal) stored != null else layout.rows.count(state) > 0
    new Group(key, state, if (exists) result(key, state) else null)
  }

  /** The result row of a group, its kind left open. */
  private def result(key: UnsafeRow, state: GroupState): UnsafeRow = {
    var at = 0
    layout.results.foreach { r =>
      r.fill(state, buffer, at)
      at += r.width
    }
    results(joined(key, buffer)).copy()
  }

  override protected def drain(): Iterator[InternalRow] = {
    val all = groups.values.iterator
    new Iterator[InternalRow] {
      private[this] var pending: List[InternalRow] = Nil

      override def hasNext: Boolean = {
        while (pending.isEmpty && all.hasNext) pending = settle(all.next())
        pending.nonEmpty || {
          groups.clear()
          values = 0
          false
        }
      }

      override def next(): InternalRow = {
        val row = pending.head
        pending = pending.tail
        row
      }
    }
  }

  /** Brings a group's entries up to date, and says what became of its result. */
  private def settle(group: Group): List[InternalRow] = {
    if (!group.values.isEmpty) {
      new SetUpdate(layout, made, store, counts).apply(group.key, group.state, group.values)
    }
    val exists = layout.isGlobal || layout.rows.count(group.state) > 0
    put(group)
    val after = if (exists) result(group.key, group.state) else null
    changes(group.before, after)
  }

  private def put(group: Group): Unit = {
    val key = made.entryOf(group.key)
    if (!layout.isGlobal && layout.isZero(group.state)) {
      store.remove(key)
      counts.removed += 1
    } else {
      store.put(key, made.valueOf(group.state))
      counts.updated += 1
    }
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
}

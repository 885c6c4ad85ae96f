package io.firesteel.changelog.aggregate

import io.firesteel.changelog.aggregate.slots.GroupState
import io.firesteel.changelog.fold.{FoldLimits, ResultChange}
import io.firesteel.changelog.state.StateEntries
import io.firesteel.core.rows.KeyIndex
import io.firesteel.core.windows.PaneWindows

import java.util.ArrayDeque

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow, UnsafeRow}
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * Adds partial results to panes, and emits the changes of the windows that have these panes. The
 * store has panes only: the result that a window had before is computed from the panes as they were.
 *
 * Only for slots whose result does not depend on how panes are merged, or a row that was emitted
 * could not be taken back: exact ones, and `min` and `max`.
 *
 * Memory: the panes of one window, and the panes that have changed, as they were.
 */
final private[aggregate] class ChangedPanes(
    rows: Iterator[InternalRow],
    limits: FoldLimits,
    layout: AggregateLayout,
    windows: PaneWindows,
    results: GroupResults,
    updateBefore: Boolean,
    endedAt: Option[Long],
    late: SQLMetric,
    entries: StateEntries)
  extends PaneFold(rows, limits, layout, windows, endedAt, late, entries) {
  import ChangedPanes.Pane

  private[this] val firstWindow = endedAt.fold(Long.MinValue)(windows.lastEndedAt(_) + 1)
  private[this] val stored = ArrayBuffer.empty[UnsafeRow]
  private[this] val windowKeys = new KeyIndex(isNumber = false, layout.numKeys)
  private[this] val changedOf = ArrayBuffer.empty[ArrayBuffer[Pane]]

  private[this] val now = new SlidingGroup(layout, made)
  private[this] val was = new SlidingGroup(layout, made)
  private[this] val bounds = new GenericInternalRow(2)
  private[this] val named = new JoinedRow

  override protected def loaded(key: UnsafeRow, state: GroupState, row: UnsafeRow): Unit =
    stored += (if (row == null) null else row.copy())

  override protected def changed(
      group: Int,
      key: UnsafeRow,
      state: GroupState): List[InternalRow] = {
    val entry = made.entryOf(key)
    if (layout.isZero(state)) entries.remove(entry)
    else entries.put(entry, made.valueOf(state))
    val ofWindow = key.copy()
    ofWindow.setNullAt(paneAt)
    val at = windowKeys.of(ofWindow)
    if (at == changedOf.size) changedOf += ArrayBuffer.empty
    changedOf(at) += new Pane(key.getLong(paneAt), null, stored(group))
    Nil
  }

  override protected def settled(): Iterator[InternalRow] =
    changedOf.indices.iterator.flatMap { i =>
      changesOf(windowKeys.key(i).copy(), changedOf(i).sortBy(_.number).toArray)
    }

  override protected def emptied(): Unit = {
    stored.clear()
    windowKeys.clear()
    changedOf.clear()
  }

  /** The changes of the open windows of a key that have one of these panes. */
  private def changesOf(key: UnsafeRow, changed: Array[Pane]): Iterator[InternalRow] = {
    val paneKey = key.copy()
    val inside = new ArrayDeque[Pane]
    var entered = Long.MinValue // panes before it are in the window, or were
    var nextChanged = 0 // the first changed pane that has not entered
    var first = 0 // the first changed pane that has not left
    var window = firstWindow
    now.clear()
    was.clear()

    def read(number: Long): Pane = {
      paneKey.setLong(paneAt, number)
      val row = entries.get(made.entryOf(paneKey))
      val present = if (row == null) null else row.copy()
      while (nextChanged < changed.length && changed(nextChanged).number < number) nextChanged += 1
      val isChanged = nextChanged < changed.length && changed(nextChanged).number == number
      new Pane(number, present, if (isChanged) changed(nextChanged).was else present)
    }

    def moveTo(start: Long, end: Long): Unit = {
      while (!inside.isEmpty && inside.peekFirst().number < start) {
        val gone = inside.removeFirst()
        if (gone.now != null) now.leave(gone.now)
        if (gone.was != null) was.leave(gone.was)
      }
      entered = math.max(entered, start)
      while (entered < end) {
        val pane = read(entered)
        if (pane.now != null) now.enter(pane.now)
        if (pane.was != null) was.enter(pane.was)
        if (pane.now != null || pane.was != null) inside.addLast(pane)
        entered = windows.nextPane(entered)
      }
    }

    def changes(): List[InternalRow] = {
      moveTo(windows.startOf(window), windows.endOf(window))
      bounds.update(0, windows.startOf(window))
      bounds.update(1, windows.endOf(window))
      def row(of: SlidingGroup): UnsafeRow =
        if (of.rows > 0) results.of(named(key, bounds), of.all).copy() else null
      ResultChange(row(was), row(now), updateBefore)
    }

    /** The changes of the next window that has a changed pane; none if there is no more. */
    def next(): Option[List[InternalRow]] = {
      while (first < changed.length && changed(first).number < windows.startOf(window)) first += 1
      Option.when(first < changed.length) {
        window = math.max(window, windows.firstWindowOf(changed(first).number))
        val found = changes()
        window += 1
        found
      }
    }

    window = math.max(window, windows.firstWindowOf(changed.head.number))
    Iterator.continually(next()).takeWhile(_.nonEmpty).flatten.flatten
  }
}

private object ChangedPanes {

  /** A pane as it is in the store, and as it was before this micro-batch; null where it is not. */
  final private class Pane(val number: Long, val now: UnsafeRow, val was: UnsafeRow)
}

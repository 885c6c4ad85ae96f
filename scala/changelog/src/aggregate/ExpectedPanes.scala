package io.firesteel.changelog.aggregate

import io.firesteel.changelog.aggregate.slots.GroupState
import io.firesteel.changelog.fold.FoldLimits
import io.firesteel.changelog.state.StateEntries
import io.firesteel.core.rows.KeyIndex
import io.firesteel.core.windows.PaneWindows

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * Adds partial results to panes, and tells the windows of their keys which panes will come. Nothing
 * is emitted: windows are, when they close.
 *
 * @param isFirst whether it is the first micro-batch of a run, of which `endedAt` may be too early
 * @param partitions the number of partitions of the state
 */
final private[aggregate] class ExpectedPanes(
    rows: Iterator[InternalRow],
    limits: FoldLimits,
    layout: AggregateLayout,
    windows: PaneWindows,
    endedAt: Option[Long],
    isFirst: Boolean,
    partitions: Int,
    late: SQLMetric,
    entries: StateEntries)
  extends PaneFold(rows, limits, layout, windows, endedAt, late, entries) {

  private[this] val window =
    new RunningWindow(layout, windows, made, entries)
  // No window has passed panes from here on.
  private[this] val ahead =
    if (isFirst) Long.MaxValue
    else endedAt.fold(Long.MinValue)(time => windows.endOf(windows.lastEndedAt(time)))
  private[this] val isNew = ArrayBuffer.empty[Boolean]

  // Panes that are new in the store, by the keys of their windows.
  private[this] val windowKeys = new KeyIndex(isNumber = false, layout.numKeys)
  private[this] val coming = ArrayBuffer.empty[ComingPanes]

  override protected def loaded(key: UnsafeRow, state: GroupState, stored: UnsafeRow): Unit =
    isNew += (stored == null)

  override protected def changing(group: Int, key: UnsafeRow): Unit =
    if (mayHavePassed(group, key)) {
      window.open(key)
      val pane = key.getLong(paneAt)
      if (window.hasPassed(pane)) window.withdraw(pane)
    }

  /** Whether a pane of the store may be in its window already. */
  private def mayHavePassed(group: Int, key: UnsafeRow): Boolean =
    !isNew(group) && key.getLong(paneAt) < ahead

  override protected def changed(
      group: Int,
      key: UnsafeRow,
      state: GroupState): List[InternalRow] = {
    val (entry, pane) = (made.entryOf(key), key.getLong(paneAt))
    if (layout.isZero(state)) entries.remove(entry)
    else entries.put(entry, made.valueOf(state))
    if (mayHavePassed(group, key)) {
      if (window.hasPassed(pane)) window.admit(pane)
      save()
    } else if (isNew(group)) add(key, pane)
    Nil
  }

  private def save(): Unit = {
    if (!isFirst) endedAt.foreach(window.mark(_, partitions))
    val _ = window.save()
  }

  /** The window of the key is read and written once for all its new panes. */
  private def add(key: UnsafeRow, pane: Long): Unit = {
    val ofWindow = key.copy()
    ofWindow.setNullAt(paneAt)
    val at = windowKeys.of(ofWindow)
    if (at == coming.size) coming += new ComingPanes
    val _ = coming(at).add(pane)
  }

  override protected def emptied(): Unit = {
    coming.indices.foreach { i =>
      window.open(windowKeys.key(i))
      while (!coming(i).isEmpty) {
        val pane = coming(i).removeFirst()
        if (window.hasPassed(pane)) window.admit(pane) else window.expect(pane)
      }
      save()
    }
    windowKeys.clear()
    coming.clear()
    isNew.clear()
  }
}

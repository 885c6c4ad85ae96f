package io.firesteel.changelog.aggregate

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.state.StateEntries
import io.firesteel.core.changes.RowKind
import io.firesteel.core.windows.PaneWindows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, GenericInternalRow, JoinedRow, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair

/**
 * The results of the windows that the watermark closes, as inserts; in the order of their ends for
 * each key. The panes that no later window has go.
 *
 * A key without panes costs nothing. Of a key whose panes neither enter nor leave a window only the
 * entry of its window is read.
 *
 * @param endedAt the time up to which windows have closed in earlier micro-batches; none if none has
 * @param isFirst whether it is the first micro-batch of a run, which asks the store: Spark may not have
 *   told what an earlier run has closed
 * @param endAt the time up to which they close in this one
 * @param partitions the number of partitions of the state
 */
final private[aggregate] class ClosingWindows(
    layout: AggregateLayout,
    store: PaneStore,
    results: GroupResults,
    endedAt: Option[Long],
    isFirst: Boolean,
    endAt: Long,
    partitions: Int,
    entries: StateEntries)
  extends Iterator[InternalRow] {

  private[this] val windows: PaneWindows = store.windows
  private[this] val last = windows.lastEndedAt(endAt)

  private[this] val made = new AggregateRows(layout)
  private[this] val window = new RunningWindow(layout, windows, made, entries)
  private[this] val toKey = ColumnProjection(
    layout.keyTypes.take(layout.numKeys).zipWithIndex.map { case (t, i) =>
      BoundReference(i + 1, t, nullable = true)
    })
  private[this] val bounds = new GenericInternalRow(2)
  private[this] val named = new JoinedRow

  private[this] val first =
    (if (isFirst) kept else endedAt).fold(Long.MinValue)(windows.lastEndedAt(_) + 1)

  private[this] val stored = if (last < first) Iterator.empty else ofWindows
  private[this] var isMarked = false // whether an entry has the time of this micro-batch

  private[this] var key: UnsafeRow = _
  private[this] var number = 0L
  private[this] var isOpen = false
  private[this] var found = false

  private def ofWindows: Iterator[UnsafeRowPair] = store.ofKeys(entries)

  /** The time up to which windows have closed, as the entries tell it, or Spark if they do not. */
  private def kept: Option[Long] = {
    val marks = ofWindows.flatMap(its => RunningWindow.markIn(its.value, layout.valuesAt)).toSet
    val isWhole = marks.nonEmpty && marks.forall(_.partitions == partitions)
    (marks.map(_.endedAt) ++ endedAt.filterNot(_ => isWhole)).maxOption
  }

  override def hasNext: Boolean = {
    while (!found && (isOpen || stored.hasNext)) {
      if (!isOpen) open()
      find()
    }
    found
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more windows")
    found = false
    bounds.update(0, windows.startOf(number))
    bounds.update(1, windows.endOf(number))
    val row = results.of(named(key, bounds), window.all)
    row.setByte(row.numFields - 1, RowKind.Insert)
    number += 1
    row
  }

  private def open(): Unit = {
    val entry = stored.next()
    key = toKey(entry.key).copy()
    window.open(key, entry.value)
    number = first
    isOpen = true
  }

  /** Moves to the next window of the key that has rows; closes the key if there is none. */
  private def find(): Unit = {
    while (!found && isOpen) {
      // A window without panes is passed up to the first pane that will come.
      if (window.isEmpty) number =
        window.next.fold(Long.MaxValue)(pane => math.max(number, windows.firstWindowOf(pane)))
      if (number > last) {
        // Panes that a window has left, though no later one was emitted, go with the next one.
        window.mark(endAt, partitions)
        if (window.save(always = !isMarked)) isMarked = true
        isOpen = false
      } else if (window.moveTo(number)) found = true
      else number += 1
    }
  }
}

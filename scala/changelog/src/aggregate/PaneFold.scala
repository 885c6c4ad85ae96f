package io.firesteel.changelog.aggregate

import io.firesteel.changelog.fold.FoldLimits
import io.firesteel.changelog.state.StateEntries
import io.firesteel.core.windows.PaneWindows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * Adds partial results to panes. A row of a pane whose windows have all closed is late.
 *
 * @param endedAt the time up to which windows have closed in earlier micro-batches; none if none has
 * @param late counts partial results that are late
 */
abstract private[aggregate] class PaneFold(
    rows: Iterator[InternalRow],
    limits: FoldLimits,
    layout: AggregateLayout,
    windows: PaneWindows,
    endedAt: Option[Long],
    late: SQLMetric,
    entries: StateEntries)
  extends GroupFold(rows, limits, layout, entries) {

  /** Place of the pane in the key of a group. */
  final protected val paneAt: Int = layout.numKeys - 1

  private[this] val firstOpen = endedAt.fold(Long.MinValue)(windows.firstOpenPane)

  final override protected def fold(delta: InternalRow): Unit =
    if (delta.getLong(paneAt) >= firstOpen) super.fold(delta) else late += 1
}

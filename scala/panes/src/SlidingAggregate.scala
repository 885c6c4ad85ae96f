package io.firesteel.panes

import io.firesteel.core.windows.PaneQuery

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** An aggregate over the copies of rows that `window()` makes. */
private[panes] object SlidingAggregate {

  def unapply(plan: LogicalPlan): Option[PaneQuery] = PaneQuery.of(plan) {
    case WindowCopies(windows, _) => CopiedWindows.unapply(windows)
    case other => CopiedWindows.unapply(other)
  }
}

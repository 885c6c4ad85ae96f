package io.firesteel.panes

import io.firesteel.core.windows.PaneQuery

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}

/** An aggregate over the copies of rows that `window()` makes. */
private[panes] object SlidingAggregate {

  def unapply(plan: LogicalPlan): Option[PaneQuery] = PaneQuery.of(plan) {
    case WindowCopies(windows, _) => CopiedWindows.unapply(copying(windows))
    case other => CopiedWindows.unapply(other)
  }

  /** Spark drops columns below, where a subquery has become a join and nothing reads them. */
  @tailrec
  private def copying(windows: LogicalPlan): LogicalPlan = windows match {
    case Project(columns, child) if columns.forall(_.isInstanceOf[Attribute]) => copying(child)
    case other => other
  }
}

package io.firesteel.panes

import org.apache.spark.sql.catalyst.analysis.TimeWindowResolution
import org.apache.spark.sql.catalyst.expressions.{Expression, IsNotNull, OuterReference, SessionWindow, TimeWindow}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, Generate, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{TimestampNTZType, TimestampType}

/**
 * Makes of a folded window what Spark makes of its own, but for its copies: a row for each window
 * comes from a generator, which says them all in one expression.
 *
 * {{{
 *   Aggregate [k, window(ts, 1 day, 1 minute)]  =>  Aggregate [k, window]
 *   +- child                                        +- Generate windows(ts, 1 day by 1 minute)
 *                                                      +- child
 * }}}
 *
 * Streams, times of other types, which Spark casts, other windows beside it and correlated subqueries
 * are Spark's.
 */
object ResolveFoldedWindows extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case aggregate: Aggregate if aggregate.childrenResolved =>
      val windows = aggregate.expressions.flatMap(_.collect { case w: FoldedWindow => w }).distinct
      if (windows.isEmpty || !windows.forall(_.time.resolved)) aggregate
      else if (windows.size > 1 || !mayFold(windows.head, aggregate)) {
        aggregate.transformExpressions { case window: FoldedWindow => window.asSparks }
      } else generated(windows.head, aggregate)
  }

  private def mayFold(window: FoldedWindow, aggregate: Aggregate): Boolean = {
    val time = window.time.dataType
    val others = aggregate.expressions.exists(_.exists(isSparksWindow))
    (time == TimestampType || time == TimestampNTZType) && window.time.deterministic &&
    !aggregate.isStreaming && !others && !isCorrelated(aggregate)
  }

  /** Spark refuses copies of rows that a query around them decides on, and so it shall. */
  private def isCorrelated(aggregate: Aggregate): Boolean =
    aggregate.exists(_.expressions.exists(_.exists(_.isInstanceOf[OuterReference])))

  private def isSparksWindow(e: Expression): Boolean = e match {
    case _: TimeWindow | _: SessionWindow => true
    case _ => false
  }

  private def generated(window: FoldedWindow, aggregate: Aggregate): LogicalPlan = {
    // The column is Spark's own: that of windows of the same time which do not overlap.
    val (column, _) = TimeWindowResolution.buildTimeWindowRewrite(
      window.asSparks.copy(slideDuration = window.size, startTime = 0),
      aggregate.child)
    val windows = WindowsOf(
      window.time,
      window.size,
      window.slide,
      window.start,
      SQLConf.get.ansiEnabled)
    val rows = Generate(windows, Nil, outer = false, None, Seq(column), aggregate.child)
    // Rows without a time have no window. Said so, it goes down to the source, as Spark's own does.
    val timed = if (window.time.nullable) Filter(IsNotNull(window.time), rows) else rows
    aggregate
      .transformExpressions { case _: FoldedWindow => column }
      .withNewChildren(Seq(timed))
  }
}

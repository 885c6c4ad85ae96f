package io.firesteel.panes

import org.apache.spark.sql.catalyst.expressions.{Expression, IsNotNull, OuterReference, SessionWindow, TimeWindow}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, Generate, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.firesteel.windowed
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{TimestampNTZType, TimestampType}

/**
 * Resolves a folded window as Spark resolves `window()`. Difference: a generator, one expression
 * for all windows of a row, emits the copies.
 *
 * {{{
 *   Aggregate [k, window(ts, 1 day, 1 minute)]  =>  Aggregate [k, window]
 *   +- child                                        +- Generate windows(ts, 1 day by 1 minute)
 *                                                      +- child
 * }}}
 *
 * Spark's own `window()` replaces the folded window in streams, in correlated subqueries, for times
 * of other types (which Spark casts), and if the aggregate has another window.
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

  /** Spark rejects windows over rows that depend on an outer query, and so raises its own error. */
  private def isCorrelated(aggregate: Aggregate): Boolean =
    aggregate.exists(_.expressions.exists(_.exists(_.isInstanceOf[OuterReference])))

  private def isSparksWindow(e: Expression): Boolean = e match {
    case _: TimeWindow | _: SessionWindow => true
    case _ => false
  }

  private def generated(window: FoldedWindow, aggregate: Aggregate): LogicalPlan = {
    // Spark's own window column, here made for tumbling windows of the same time.
    val (column, _) = windowed(
      window.asSparks.copy(slideDuration = window.size, startTime = 0),
      aggregate.child)
    val windows = WindowsOf(
      window.time,
      window.size,
      window.slide,
      window.start,
      SQLConf.get.ansiEnabled)
    val rows = Generate(windows, Nil, outer = false, None, Seq(column), aggregate.child)
    // Rows without a time have no window. Spark can push this filter to the source, like its own.
    val timed = if (window.time.nullable) Filter(IsNotNull(window.time), rows) else rows
    aggregate
      .transformExpressions { case _: FoldedWindow => column }
      .withNewChildren(Seq(timed))
  }
}

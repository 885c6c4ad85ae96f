package io.firesteel.panes

import io.firesteel.core.decide.{Decline, OptionalStrategy}
import io.firesteel.core.expressions.{CannotFail, TakesEveryValue}
import io.firesteel.core.windows.{PaneGrid, PaneQuery}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.internal.SQLConf

/**
 * Plans an aggregate over sliding windows so that each row is aggregated once, into its pane, and
 * windows are merged from panes.
 *
 * {{{
 *   Aggregate [k, window], [sum(v)]         PaneWindows [k], 1 day by 1 hour, [sum(v)]
 *   +- Expand [24 copies of a row]      =>  +- Sort [k, pane]
 *      +- child                                +- MergePanes [k], pane, [sum(v)]
 *                                                 +- Exchange hashpartitioning(k)
 *                                                    +- PartialPanes [k], pane, [sum(v)]
 *                                                       +- child
 * }}}
 *
 * The plan is right because panes do not overlap and every window is a run of whole panes, see
 * [[PaneGrid]]. Spark merges aggregates from partial states too.
 *
 * This is a strategy and not an optimizer rule. So every rule of Spark sees Spark's own nodes, an
 * `Expand` or the `Generate` of [[ResolveFoldedWindows]], and this strategy reads the optimized
 * plan.
 *
 * The cases of [[PanesDecline]] are the reasons to decline. Flink counterpart:
 * `SliceAssigners.HoppingSliceAssigner`.
 */
object PlanPanes extends OptionalStrategy[PaneQuery]("panes", PanesConf.ENABLED) {

  override protected def recognise(plan: LogicalPlan): Option[PaneQuery] =
    SlidingAggregate.unapply(plan)

  override protected def subject(query: PaneQuery): LogicalPlan = query.aggregate

  override protected def decide(query: PaneQuery): Either[Decline, SparkPlan] =
    planned(query).map(_.physical(planLater))

  /** The reason why the rule would decline a query. */
  private[panes] def objection(query: PaneQuery): Option[Decline] = planned(query).left.toOption

  private def planned(query: PaneQuery): Either[Decline, PanePlan] =
    for {
      _ <- refuse(streaming(query))
      _ <- refuse(obstacle(query))
      time <- query.copied.time.toRight(unknown(query))
      grid <- query.copied.grid.toRight(unknown(query))
      _ <- refuse(overlapTooSmall(grid))
      _ <- refuse(startMayWrap(query, grid))
      _ <- refuse(nonDeterministicBetween(query))
      filters <- PaneFilters.of(query, time)
      parts <- PaneParts.of(query)
      _ <- refuse(oneTask(grid, parts))
      _ <- refuse(mayFailElsewhere(query, grid, filters, parts))
    } yield PanePlan(query, grid, time, filters, parts)

  private def refuse(why: Option[Decline]): Either[Decline, Unit] = why.toLeft(())

  private def streaming(query: PaneQuery): Option[Decline] =
    if (query.aggregate.isStreaming) Some(PanesDecline.Streaming) else None

  private def obstacle(query: PaneQuery): Option[Decline] =
    query.obstacle.map(node => PanesDecline.OtherNode(node.nodeName))

  private def unknown(query: PaneQuery): Decline =
    PanesDecline.UnknownWindow(query.copied.sql)

  private def overlapTooSmall(grid: PaneGrid): Option[Decline] = {
    val min = SQLConf.get.getConf(PanesConf.MIN_OVERLAP)
    if (grid.overlap < min) Some(PanesDecline.OverlapTooSmall(grid.overlap, min)) else None
  }

  /** States of functions such as `collect_list` are as large as the rows of the pane. */
  private def oneTask(grid: PaneGrid, parts: PaneParts): Option[Decline] = {
    lazy val cores = SparkSession.active.sparkContext.defaultParallelism
    parts.functions
      .find(_.aggregateFunction.isInstanceOf[TypedImperativeAggregate[_]])
      .filter(_ => parts.keys.isEmpty && grid.overlap < cores)
      .map(call => PanesDecline.OneTask(call.sql, grid.overlap, cores))
  }

  /** In ANSI mode a time whose windows would wrap around is an error, see [[PaneNumber]]. */
  private def startMayWrap(query: PaneQuery, grid: PaneGrid): Option[Decline] =
    if (grid.start == 0 || query.copied.isAnsi) None
    else Some(PanesDecline.StartMayWrap(PaneGrid.text(grid.start)))

  /**
   * Spark filters the rows of unwanted windows before the aggregate. Panes filter rows by a range
   * of time alone, so under any other condition those rows are aggregated, and must not fail.
   */
  private def mayFailElsewhere(
      query: PaneQuery,
      grid: PaneGrid,
      filters: PaneFilters,
      parts: PaneParts): Option[Decline] =
    filters.ofWindows
      .find(!WindowFilter.isRange(_, query.copied.attribute, grid))
      .flatMap { condition =>
        val computed = parts.functions.flatMap(f => f.aggregateFunction.children ++ f.filter)
        (computed ++ parts.keys.flatMap(_.children))
          .find(!CannotFail(_))
          .orElse(parts.functions.map(_.aggregateFunction).find(!TakesEveryValue(_)))
          .map(failing => PanesDecline.MayFailElsewhere(failing.sql, condition.sql))
      }

  private def nonDeterministicBetween(query: PaneQuery): Option[Decline] =
    query.expressionsBetween
      .find(!_.deterministic)
      .map(e => PanesDecline.NonDeterministic(e.sql))
}

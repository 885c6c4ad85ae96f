package io.firesteel.panes

import io.firesteel.core.windows.{PaneGrid, PaneQuery}
import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, Expression, IsNotNull}
import org.apache.spark.sql.catalyst.expressions.aggregate.Final
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.execution.SparkPlan

/** The physical plan of a query for which the rule fires. */
private[panes] final case class PanePlan(
    query: PaneQuery,
    grid: PaneGrid,
    time: Expression,
    filters: PaneFilters,
    parts: PaneParts) {

  def physical(planLater: LogicalPlan => SparkPlan): SparkPlan = {
    val (rows, timeColumn) = input
    val pane = Alias(paneOf(timeColumn), "pane")()
    val states = PaneStates.plan(parts.keys, pane, parts.functions, planLater(rows))
    val windows = PaneWindowsExec(
      parts.keys.map(_.toAttribute),
      pane.toAttribute,
      parts.functions.map(_.copy(mode = Final, filter = None)),
      query.copied.attribute,
      grid,
      filters.ofWindows.reduceOption(And),
      parts.results,
      states
    )
    // Later operators bind columns by position: a wrong position would be a wrong answer.
    val wanted = query.aggregate.output.map(_.exprId)
    require(windows.output.map(_.exprId) == wanted, s"$windows does not have the columns $wanted")
    windows
  }

  /** The rows of requested windows, and the column of their time, which is computed once. */
  private def input: (LogicalPlan, Expression) = {
    val window = query.copied.attribute
    val known = query.copied.child.constraints ++ filters.ofRows
    val exists = Some(IsNotNull(time))
      .filter(e => time.nullable && !known.exists(_.semanticEquals(e)))
    val wanted = WindowFilter.ofTime(filters.ofWindows, window, grid, time)
    val read = (filters.ofRows ++ exists ++ wanted)
      .reduceOption(And)
      .fold(query.copied.child)(Filter(_, query.copied.child))
    val rows = parts.raw.below(read)
    time match {
      case column: Attribute => (rows, column)
      case computed =>
        val column = Alias(computed, "time")()
        (Project(rows.output :+ column, rows), column.toAttribute)
    }
  }

  private def paneOf(column: Expression): Expression = {
    val bounds = if (query.copied.isAnsi) query.copied.extremes else Nil
    PaneNumber(
      column,
      grid,
      bounds.map(_.transform { case same if same.semanticEquals(time) => column }))
  }
}

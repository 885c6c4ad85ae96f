package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.plan.{ChangelogOperator, GroupAggregate}
import io.firesteel.changelog.plan.frames.Panes
import io.firesteel.changelog.windows.{TableCopies, WindowTable}
import io.firesteel.core.windows.{CopiedRows, PaneQuery, PaneStart, PaneWindows, WindowExpand, WindowOfBounds}

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, Expression, GetStructField, IsNotNull, NamedExpression, PreciseTimestampConversion}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Average, Count, Max, Min, Sum}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LogicalPlan, Project, SubqueryAlias, View}
import org.apache.spark.sql.types.LongType

/**
 * Reads an aggregate over overlapping windows of a stream, `window(time, size, slide)`, `HOP` or
 * `CUMULATE`, as one over panes: each row counts once instead of once in each window. It needs a
 * watermark, which says when a window is complete.
 *
 * {{{
 *   Aggregate [k, window], [sum(v)]          Project [k, window of start and end, sum]
 *   +- Project / Filter ...                  +- Aggregate [k, pane], [sum(v)], windows=1 day by 1 hour
 *      +- Expand [24 copies of a row]   =>      +- Filter ...
 *         +- rows                                  +- rows
 * }}}
 *
 * @param query the aggregate, over the rows before copying and the column of windows
 */
final private[changelog] class ReadPanes(
    query: PaneQuery,
    val time: Attribute,
    val windows: PaneWindows) {

  private val (start, end) = (bound("window_start"), bound("window_end"))

  private def bound(name: String): Attribute =
    AttributeReference(name, time.dataType, nullable = false)()

  /** The rows before copying. */
  def rows: LogicalPlan = query.copied.child

  /**
   * Reads it, if each part of it is a matter of a row or of a window alone.
   *
   * @param atClose whether windows are emitted once, when the watermark closes them; otherwise all
   *   calls must allow that the panes of a window are merged in any way
   * @param isMarked whether a watermark closes them
   */
  def apply(
      atClose: Boolean,
      isMarked: Boolean,
      read: LogicalPlan => ChangelogOperator,
      computable: (Seq[Expression], ChangelogOperator) => ChangelogOperator)
      : Option[ReadAggregate] = {
    val aggregate = query.aggregate
    val (ofWindow, ofRows) =
      aggregate.groupingExpressions.map(query.inRows).partition(query.readsWindow)
    val calls = aggregate.aggregateExpressions.flatMap(_.collect {
      case call: AggregateExpression => query.inRows(call)
    })
    val (isExact, conditions) = query.within(time)
    val isApart =
      isExact && ofWindow.exists(tellsApart) && ofWindow.forall(query.readsWindowOnly) &&
        !(calls ++ conditions).exists(query.readsWindow) &&
        (ofRows ++ calls ++ conditions).forall(query.unknownColumns(_).isEmpty) &&
        query.obstacle.isEmpty && query.expressionsBetween.forall(_.deterministic)
    Option.when(isApart) {
      // Spark drops rows without a time by the bounds of their windows, or by this condition.
      val exists = IsNotNull(time)
      val all =
        if (conditions.exists(_.semanticEquals(exists))) conditions else exists +: conditions
      val kept = all.foldLeft(rows)((below, condition) => Filter(condition, below))
      val panes = Aggregate(
        ofRows :+ PaneStart(time, windows),
        aggregate.aggregateExpressions.map(result),
        kept)
      val grouped =
        ReadAggregate(panes, ttlMs = 0L, computable(ReadAggregate.evaluated(panes), read(kept)))
      grouped.copy(operator =
        grouped.operator.copy(panes = Some(Panes(windows, start, end, atClose, isMarked))))
    }.filter(its => atClose || ReadPanes.canChange(its.operator))
  }

  /** Whether these are windows of the table function that has the columns. */
  def areOf(columns: WindowTable.Columns): Boolean =
    tellsApart(query.inRows(if (windows.isCumulative) columns.end else columns.start))

  /** Whether rows are in sessions, too, which merge as rows come. */
  def haveSessions: Boolean = SessionGroups.of(query.aggregate.groupingExpressions).nonEmpty

  /** Whether two windows differ in it. */
  private def tellsApart(group: Expression): Boolean = group match {
    case window: Attribute => window == query.copied.attribute
    case field: GetStructField => field.child == query.copied.attribute
    case micros: PreciseTimestampConversion => micros.child == query.copied.attribute
    case _ => false
  }

  private def result(column: NamedExpression): NamedExpression = {
    def made(value: Expression) = query.inRows(value).transformUp {
      case window: Attribute if window == query.copied.attribute => ofBounds
      case field: GetStructField =>
        field.child match {
          case window: WindowOfBounds => window.children(field.ordinal)
          case _ => field
        }
      case back: PreciseTimestampConversion =>
        back.child match {
          case micros: PreciseTimestampConversion if micros.child.dataType == back.dataType =>
            micros.child
          case _ => back
        }
    }
    column match {
      case alias: Alias =>
        Alias(made(alias.child), alias.name)(
          exprId = alias.exprId,
          qualifier = alias.qualifier,
          explicitMetadata = Some(alias.metadata))
      case other => Alias(made(other), other.name)(
          exprId = other.exprId,
          explicitMetadata = Some(other.metadata))
    }
  }

  /** The column of windows, from the bounds of a window. */
  private def ofBounds: Expression = query.copied match {
    case _: TableCopies =>
      val bound = if (windows.isCumulative) end else start
      PreciseTimestampConversion(bound, bound.dataType, LongType)
    case _ => WindowOfBounds(start, end)
  }
}

private[changelog] object ReadPanes {

  /** The query that an aggregate of a stream is, if its windows overlap. */
  def unapply(aggregate: Aggregate): Option[ReadPanes] =
    if (!aggregate.isStreaming) None
    else PaneQuery.of(withoutNames(aggregate))(copied).flatMap { query =>
      query.copied.time.collect { case time: Attribute => time }.flatMap { time =>
        windowsOf(query.copied).map(new ReadPanes(query, time, _))
      }
    }

  /** Whether the result of a window is the same for panes that are merged in another order. */
  private def canChange(groups: GroupAggregate): Boolean =
    groups.functions.zip(groups.distinct).forall {
      case (_, true) => false
      case (_: Min | _: Max, _) => groups.input.facts.changes.insertOnly
      case (_: Count | _: Sum | _: Average, _) => true
      case _ => false
    }

  /**
   * Whether Spark runs a query by itself, with a copy of each row in at least so many windows: rows
   * without state, one such aggregate, and projections and filters.
   */
  def areAllOf(query: LogicalPlan, overlap: Long): Boolean = query match {
    case _: Project | _: Filter | _: SubqueryAlias | _: View =>
      areAllOf(query.children.head, overlap)
    case ReadPanes(its) =>
      its.windows.overlap >= overlap && (its.rows match {
        case StatelessSource(_) => true
        case _ => false
      })
    case _ => false
  }

  private def withoutNames(aggregate: Aggregate): LogicalPlan = {
    def below(plan: LogicalPlan): LogicalPlan = plan match {
      case alias: SubqueryAlias => below(alias.child)
      case view: View => below(view.child)
      case _: Project | _: Filter => plan.mapChildren(below)
      case other => other
    }
    aggregate.mapChildren(below)
  }

  private def copied(plan: LogicalPlan): Option[CopiedRows] = plan match {
    case TableCopies(copies) => Some(copies)
    case WindowExpand(copies) => Some(copies)
    case _ => None
  }

  private def windowsOf(copies: CopiedRows): Option[PaneWindows] = copies match {
    case table: TableCopies => Some(table.windows)
    case other => other.grid.map(PaneWindows.Sliding(_))
  }
}

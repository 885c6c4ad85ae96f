package io.firesteel.changelog.windows

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{Add, Alias, Attribute, AttributeSet, ExprId, Expression, Literal, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Max, Min}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Project, SubqueryAlias, View}

/**
 * An aggregate by the sessions of `SESSION`, and by what their rows have in common: each row adds to
 * the group of its session, so that state needs no rows. It is written over sessions of one row each,
 * whose bounds are those of the row.
 *
 * {{{
 *   Aggregate [k, window_start, window_end]      Aggregate [k, window_start], end = max(window_end)
 *   +- Project [k, v, window_start, ...]     =>  +- Project [k, v, window_start, ...]
 *      +- SESSION                                   +- sessions of one row
 * }}}
 *
 * @param aggregate the last key is the row's time, the first time of its session
 * @param end the call with the end of the session
 * @param columns of the window among the columns that the user's aggregate reads, and its
 *   `window_time` if the groups have it
 */
final private[changelog] case class FoldedSessions(
    aggregate: Aggregate,
    end: AggregateExpression,
    parts: SessionTable.Parts,
    columns: WindowTable.Columns,
    time: Option[Attribute])

/** Reads such an aggregate. */
private[changelog] object SessionAggregate {

  def unapply(asked: Aggregate): Option[FoldedSessions] = for {
    parts <- sessionsBelow(asked.child)
    (columns, time) <- WindowTable.unapply(parts.named)
    meaning = new Meaning(asked.child)
    if (meaning.expressions ++ asked.expressions).forall(_.deterministic)
    groups = asked.groupingExpressions.collect { case column: Attribute => column }
    start <- groups.find(meaning.of(_).semanticEquals(columns.start))
    end <- groups.find(meaning.of(_).semanticEquals(columns.end))
    last = groups.find(meaning.of(_).semanticEquals(time))
    ofWindow = AttributeSet(Seq(start, end) ++ last)
    keys = asked.groupingExpressions.filter {
      case column: Attribute => !ofWindow.contains(column)
      case _ => true
    }
    if areEqual(keys.map(meaning.of), parts.keys) && calls(asked).forall { call =>
      val read = meaning.of(call).references
      !isDistinct(call) && !Seq(columns.start, columns.end, time).exists(read.contains(_))
    }
  } yield {
    val latest =
      (Seq(end) ++ last).map(column => column.exprId -> Max(column).toAggregateExpression()).toMap
    FoldedSessions(
      Aggregate(
        keys :+ start,
        asked.aggregateExpressions.map(over(latest)),
        withRowsAlone(asked.child)),
      latest(end.exprId),
      parts,
      WindowTable.Columns(start, end),
      last
    )
  }

  @tailrec
  private def sessionsBelow(plan: LogicalPlan): Option[SessionTable.Parts] = plan match {
    case SessionTable(parts) => Some(parts)
    case project: Project => sessionsBelow(project.child)
    case alias: SubqueryAlias => sessionsBelow(alias.child)
    case view: View => sessionsBelow(view.child)
    case _ => None
  }

  private def withRowsAlone(plan: LogicalPlan): LogicalPlan = plan match {
    case SessionTable(parts) => ofOneRow(parts)
    case other => other.mapChildren(withRowsAlone)
  }

  /** The session table of rows each of which is a session. */
  private def ofOneRow(parts: SessionTable.Parts): LogicalPlan = {
    def bound(value: Expression, column: Attribute): NamedExpression =
      Alias(value, column.name)(column.exprId)
    val bounds = Seq(
      bound(parts.time, parts.start),
      bound(Add(parts.time, Literal(parts.gap)), parts.end))
    parts.named.copy(child = Project(parts.rows.output ++ bounds, parts.rows))
  }

  /** Whether each group is of one key, and each key in a group. */
  private def areEqual(groups: Seq[Expression], keys: Seq[Expression]): Boolean =
    groups.forall(group => keys.exists(_.semanticEquals(group))) &&
      keys.forall(key => key.foldable || groups.exists(_.semanticEquals(key)))

  private def calls(aggregate: Aggregate): Seq[AggregateExpression] =
    aggregate.aggregateExpressions.flatMap(_.collect { case call: AggregateExpression => call })

  private def isDistinct(call: AggregateExpression): Boolean = call.aggregateFunction match {
    case _: Min | _: Max => false
    case _ => call.isDistinct
  }

  private def over(latest: Map[ExprId, Expression])(column: NamedExpression): NamedExpression = {
    def value(part: Expression): Expression = part match {
      case call: AggregateExpression => call
      case its: Attribute => latest.getOrElse(its.exprId, its)
      case other => other.mapChildren(value)
    }
    column match {
      case its: Attribute if latest.contains(its.exprId) =>
        Alias(value(its), its.name)(
          its.exprId,
          its.qualifier,
          explicitMetadata = Some(its.metadata))
      case its: Attribute => its
      case other => value(other).asInstanceOf[NamedExpression]
    }
  }

  /** Expressions over a chain of projections, in terms of the columns of the session table. */
  private class Meaning(plan: LogicalPlan) {

    private val projections: Seq[Project] = plan.collect {
      case project: Project if !isSession(project) => project
    }.takeWhile(project => sessionsBelow(project).nonEmpty)

    def expressions: Seq[Expression] = projections.flatMap(_.projectList)

    private val values: Map[ExprId, Expression] =
      projections.reverse.foldLeft(Map.empty[ExprId, Expression]) { (below, project) =>
        below ++ project.projectList.collect { case alias: Alias =>
          alias.exprId -> in(below, alias.child)
        }
      }

    def of(value: Expression): Expression = in(values, value)

    private def in(below: Map[ExprId, Expression], value: Expression): Expression =
      value.transform { case column: Attribute => below.getOrElse(column.exprId, column) }

    private def isSession(project: Project): Boolean = SessionTable.unapply(project).nonEmpty
  }
}

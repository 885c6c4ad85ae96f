package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, AttributeSet, Expression, ExprId, NamedExpression, Or, PredicateHelper, WindowExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, Window, WindowGroupLimit}

/**
 * A filter on rank columns above the window that computes them.
 *
 * {{{
 *   Project [k, v]                  optional
 *   +- Filter (rn <= 3)
 *      +- Window [row_number() OVER (k, v DESC) AS rn]
 *         +- WindowGroupLimit ...   added by Spark, ignored
 *            +- child
 * }}}
 *
 * @param adjacent whether only windows are between the filter and `window`
 * @param window the first window below the filter with a rank column that the filter reads
 * @param above windows between `window` and the filter
 * @param below windows below `window`
 */
private[rank] final case class RankQuery(
    project: Option[Seq[NamedExpression]],
    condition: Expression,
    adjacent: Boolean,
    window: Window,
    above: Seq[Window],
    below: Seq[Window]) {

  /** The rank columns of the window, with their functions. */
  val ranks: Seq[(Attribute, RankFunction)] = RankQuery.ranksOf(window)

  def functionOf: Map[ExprId, RankFunction] = ranks.map { case (a, f) => a.exprId -> f }.toMap

  /** The rows that the window numbers. */
  def child: LogicalPlan = window.child match {
    case limit: WindowGroupLimit => limit.child
    case other => other
  }

  /** Columns that the output and the given part of the condition read above the window. */
  def readAbove(condition: Option[Expression], output: Seq[Attribute]): AttributeSet =
    AttributeSet(project.getOrElse(output)) ++ AttributeSet(condition)
}

private[rank] object RankQuery extends PredicateHelper {

  /** The query of `plan`, if its filter reads a rank column. */
  def unapply(plan: LogicalPlan): Option[RankQuery] = plan match {
    case project: Project =>
      project.child match {
        case filter: Filter => of(Some(project.projectList), filter)
        case _ => None
      }
    case filter: Filter => of(None, filter)
    case _ => None
  }

  private def of(project: Option[Seq[NamedExpression]], filter: Filter): Option[RankQuery] = {
    val windows = windowsBelow(filter.child)
    val at = windows.indexWhere(w => ranksOf(w).exists(r => filter.references.contains(r._1)))
    if (at < 0 || filter.isStreaming) None
    else Some(RankQuery(
      project,
      filter.condition,
      filter.child.isInstanceOf[Window],
      windows(at),
      windows.take(at),
      windows.drop(at + 1)))
  }

  private def windowsBelow(plan: LogicalPlan): List[Window] = plan match {
    case window: Window => window :: windowsBelow(window.child)
    case project: Project => windowsBelow(project.child)
    case _ => Nil
  }

  private def ranksOf(window: Window): Seq[(Attribute, RankFunction)] =
    window.windowExpressions.collect {
      case alias @ Alias(call: WindowExpression, _) =>
        RankFunction.of(call.windowFunction).map(alias.toAttribute -> _)
    }.flatten

  /** Whether one disjunction reads rank columns of several windows. */
  def isJoinedByOr(query: RankQuery): Boolean = {
    val windows = query.above ++ (query.window +: query.below)
    val columns = windows.map(w => AttributeSet(ranksOf(w).map(_._1)))
    query.condition.exists {
      case or: Or => columns.count(c => or.references.exists(c.contains)) > 1
      case _ => false
    }
  }

  /** The parts of `condition` that `bound` on the columns `ranks` does not ensure. */
  def residual(
      condition: Expression,
      bound: RankBound,
      ranks: Seq[(Attribute, RankFunction)]): Option[Expression] = {
    val bounded = ranks.collect { case (a, f) if f == bound.function => a }
    splitConjunctivePredicates(condition)
      .filterNot(part => bounded.exists(RankBound.implies(bound, part, _)))
      .reduceOption(And)
  }
}

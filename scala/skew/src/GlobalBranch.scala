package io.firesteel.skew

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, AttributeSet, Expression, ExpressionSet, NamedExpression, PredicateHelper}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LogicalPlan, Project}

/**
 * The parts of an aggregate without `GROUP BY`: its input, its conditions and its results.
 *
 * {{{
 *   Aggregate [avg(y) AS m]
 *   +- Project [x + 1 AS y]           input: t
 *      +- Filter (q > 3)        =>    conditions: q > 3
 *         +- t                        results: avg(x + 1) AS m
 * }}}
 *
 * @param conditions all must hold; those of lower filters are first; over columns of `input`
 * @param results the columns of its one row, over columns of `input`
 * @param columns the projection above `results`, if there is one
 * @param inlined whether `results` compute what a projection below the aggregate computed
 */
private[skew] final case class GlobalBranch(
    aggregate: Aggregate,
    input: LogicalPlan,
    conditions: Seq[Expression],
    results: Seq[NamedExpression],
    columns: Seq[NamedExpression],
    inlined: Boolean) {

  def calls: Seq[AggregateExpression] =
    results.flatMap(_.collect { case call: AggregateExpression => call })

  /** The expressions that are evaluated on rows. */
  def onRows: Seq[Expression] =
    conditions ++ calls.flatMap(call => call.aggregateFunction.children ++ call.filter)

  /** The same for branches over one input with the same filter. */
  def filter: ExpressionSet = ExpressionSet(conditions)

  def columnsRead: AttributeSet = AttributeSet(onRows)

  /** The same branch over `other`, which has the same rows under other column names. */
  def over(other: LogicalPlan): GlobalBranch =
    if (other eq input) this
    else {
      val renamed = AttributeMap(input.output.zip(other.output))
      def rename(expression: Expression): Expression =
        expression.transform { case column: Attribute => renamed.getOrElse(column, column) }
      copy(
        input = other,
        conditions = conditions.map(rename),
        results = results.map(rename(_).asInstanceOf[NamedExpression]))
    }
}

private[skew] object GlobalBranch extends PredicateHelper {

  def of(plan: LogicalPlan): Option[GlobalBranch] = plan match {
    case aggregate: Aggregate => of(aggregate, aggregate.output)
    // If an expression reads an aggregate twice, Spark adds a projection above it.
    case project: Project if project.projectList.forall(_.deterministic) =>
      project.child match {
        case aggregate: Aggregate => of(aggregate, project.projectList)
        case _ => None
      }
    case _ => None
  }

  private def of(aggregate: Aggregate, columns: Seq[NamedExpression]): Option[GlobalBranch] =
    if (aggregate.groupingExpressions.nonEmpty) None
    else {
      val (input, conditions, aliases) = below(aggregate.child)
      val results = aggregate.aggregateExpressions.map(replaceAliasButKeepName(_, aliases))
      Some(GlobalBranch(aggregate, input, conditions, results, columns, aliases.nonEmpty))
    }

  /** The plan under filters and projections, their conditions, and the columns they compute. */
  private def below(
      plan: LogicalPlan): (LogicalPlan, Seq[Expression], AttributeMap[Alias]) = plan match {
    case project: Project =>
      val (input, conditions, aliases) = below(project.child)
      val made = project.projectList.map(replaceAliasButKeepName(_, aliases))
      (input, conditions, getAliasMap(made))
    case filter: Filter =>
      val (input, conditions, aliases) = below(filter.child)
      val more = splitConjunctivePredicates(replaceAlias(filter.condition, aliases))
      (input, conditions ++ more, aliases)
    case input => (input, Nil, AttributeMap.empty[Alias])
  }
}

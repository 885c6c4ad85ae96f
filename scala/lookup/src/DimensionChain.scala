package io.firesteel.lookup

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, NamedExpression, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalLimit, LogicalPlan, Project}

/**
 * A relation under projections and filters, told as one projection and filters over the relation.
 *
 * Spark's own reader of such chains (`PhysicalOperation`) stops where a computed column is used
 * twice, since it would be computed twice. Here nothing else could be done with the relation.
 *
 * @param marks of the query, outermost first
 */
private[lookup] final case class DimensionChain(
    projection: Seq[NamedExpression],
    filters: Seq[Expression],
    marks: Seq[LookupTable],
    relation: LogicalPlan)

private[lookup] object DimensionChain extends PredicateHelper {

  def of(plan: LogicalPlan): DimensionChain = read(plan, isTop = true)

  /** `isTop`: nothing above computes with a random column, so that there may be one. */
  private def read(plan: LogicalPlan, isTop: Boolean): DimensionChain = plan match {
    case table: LookupTable =>
      val below = read(table.child, isTop)
      below.copy(marks = table +: below.marks)
    case Project(columns, child) if isTop || columns.forall(_.deterministic) =>
      val below = read(child, isTop = false)
      below.copy(projection = columns.map(inline(_, below.projection)))
    case Filter(condition, child) if condition.deterministic =>
      val below = read(child, isTop)
      val conditions = splitConjunctivePredicates(condition).map(replace(_, below.projection))
      // Of a random column it would test another value than is shown.
      if (conditions.forall(_.deterministic)) below.copy(filters = below.filters ++ conditions)
      else DimensionChain(plan.output, Nil, Nil, plan)
    // Without a global one above it, it comes of a limit that stays above the join (Spark's
    // `LimitPushDown`) and only spares rows; a user's own comes as both, and is not looked through.
    case LocalLimit(_, child) => read(child, isTop)
    case relation => DimensionChain(relation.output, Nil, Nil, relation)
  }

  private def inline(column: NamedExpression, below: Seq[NamedExpression]): NamedExpression =
    column match {
      case attribute: Attribute =>
        below.find(_.exprId == attribute.exprId) match {
          case Some(alias: Alias) => alias
          case _ => attribute
        }
      case alias: Alias => alias.withNewChildren(Seq(replace(alias.child, below))) match {
          case inlined: NamedExpression => inlined
          case other => throw new IllegalStateException(s"$other is no column")
        }
      case other => other
    }

  /** In terms of what `columns` are computed from. */
  def replace(expression: Expression, columns: Seq[NamedExpression]): Expression = {
    val computed = columns.collect { case alias: Alias => alias.exprId -> alias.child }.toMap
    expression.transform { case a: Attribute => computed.getOrElse(a.exprId, a) }
  }
}

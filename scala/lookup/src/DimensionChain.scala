package io.firesteel.lookup

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, NamedExpression, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalLimit, LogicalPlan, Project}

/**
 * A relation under projections and filters, collapsed into one projection and a list of filters.
 *
 * Spark's `PhysicalOperation` stops at a computed column that is used twice, to avoid computing it
 * twice. A relation that can only be looked up has no other plan, so this reader continues.
 *
 * @param marks marks of the query, outermost first
 */
private[lookup] final case class DimensionChain(
    projection: Seq[NamedExpression],
    filters: Seq[Expression],
    marks: Seq[LookupTable],
    relation: LogicalPlan)

private[lookup] object DimensionChain extends PredicateHelper {

  def of(plan: LogicalPlan): DimensionChain = read(plan, isTop = true)

  /** `isTop`: no node above computes with a random column, so this projection may have one. */
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
      // A filter on a random column would test another value than the one that is emitted.
      if (conditions.forall(_.deterministic)) below.copy(filters = below.filters ++ conditions)
      else DimensionChain(plan.output, Nil, Nil, plan)
    // A local limit without a global one comes from Spark's `LimitPushDown`: the limit remains
    // above the join, and this one only saves rows. A user's own limit has both; it stops here.
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

  /** Replaces `columns` by the expressions that compute them. */
  def replace(expression: Expression, columns: Seq[NamedExpression]): Expression = {
    val computed = columns.collect { case alias: Alias => alias.exprId -> alias.child }.toMap
    expression.transform { case a: Attribute => computed.getOrElse(a.exprId, a) }
  }
}

package io.firesteel.changelog.plan.parse.conditions

import org.apache.spark.sql.catalyst.expressions.{And, Expression, PredicateHelper, SubqueryExpression}
import org.apache.spark.sql.catalyst.optimizer.EliminateOuterJoin
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LocalRelation, LogicalPlan}

/**
 * Outer joins right below a condition that drops their padded rows, as joins that do not pad.
 * Spark's optimizer makes them so before it writes the subqueries of their `ON` as joins.
 */
private[changelog] object NarrowerJoins extends PredicateHelper {

  /** @param asks whether a join has such subqueries */
  def in(plan: LogicalPlan)(asks: Join => Boolean): LogicalPlan = plan.transform {
    case above @ Filter(condition, join: Join) if join.resolved && asks(join) =>
      val plain =
        splitConjunctivePredicates(condition).filterNot(SubqueryExpression.hasSubquery)
      above.copy(child = join.copy(joinType = of(join, plain)))
  }

  /** The type that a join may have below conditions. */
  def of(join: Join, conditions: Seq[Expression]): JoinType = {
    def rows(side: LogicalPlan) = LocalRelation(side.output, Nil, isStreaming = true)
    conditions.reduceOption(And(_, _))
      .map(Filter(_, join.copy(rows(join.left), rows(join.right), condition = None)))
      .map(EliminateOuterJoin(_))
      .collect { case Filter(_, its: Join) => its.joinType }
      .getOrElse(join.joinType)
  }
}

package io.firesteel.changelog.plan.parse.conditions

import org.apache.spark.sql.catalyst.expressions.{And, Expression, PredicateHelper, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.{Cross, Inner}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LogicalPlan}

/**
 * Subqueries in the condition of an inner join, `a JOIN b ON a.k = b.k AND b.x IN (SELECT ...)`.
 * Those over tables that are about a table alone stay with it.
 */
private[changelog] object JoinSubqueries extends PredicateHelper {

  /** The join with a filter above it that has the subqueries. */
  def unapply(plan: LogicalPlan): Option[Filter] = plan match {
    case join: Join if join.joinType == Inner || join.joinType == Cross =>
      val (asking, others) = join.condition.toSeq.flatMap(splitConjunctivePredicates)
        .partition(its =>
          SubqueryExpression.hasSubquery(its) && !join.children.exists(isOf(its, _)))
      asking.reduceOption[Expression](And(_, _))
        .map(Filter(_, join.copy(condition = others.reduceOption(And(_, _)))))
    case _ => None
  }

  private def isOf(condition: Expression, side: LogicalPlan): Boolean = !side.isStreaming &&
    condition.references.nonEmpty && condition.references.subsetOf(side.outputSet) &&
    !condition.exists(isOfStream)

  private def isOfStream(part: Expression): Boolean = part match {
    case subquery: SubqueryExpression => subquery.plan.isStreaming
    case _ => false
  }
}

package io.firesteel.changelog.common

import org.apache.spark.sql.catalyst.expressions.{InSubquery, Not}
import org.apache.spark.sql.catalyst.optimizer.BooleanSimplification
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * Conditions as Spark's optimizer leaves them before it writes subqueries as joins: `NOT` is above
 * `IN` itself, not above `AND` or `OR` with it, where a null would be a false. Versions of Spark differ
 * in how many runs of the rule that takes. Other conditions are as one run leaves them, and in the
 * records of checkpoints.
 */
private[changelog] object SimpleConditions {

  private val mostRuns = 10

  def in(plan: LogicalPlan): LogicalPlan =
    Iterator.iterate(BooleanSimplification(plan))(BooleanSimplification(_)).take(mostRuns)
      .dropWhile(hidesIn).nextOption().getOrElse(BooleanSimplification(plan))

  private def hidesIn(plan: LogicalPlan): Boolean = plan.expressions.exists(_.exists {
    case not: Not =>
      !not.child.isInstanceOf[InSubquery] && not.child.exists(_.isInstanceOf[InSubquery])
    case _ => false
  })
}

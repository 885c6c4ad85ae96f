package io.firesteel.changelog.common

import org.apache.spark.sql.catalyst.optimizer.BooleanSimplification
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * Conditions as Spark's optimizer leaves them before it writes subqueries as joins: `NOT` is above
 * `IN` itself. Versions differ in how many runs of the rule that takes.
 */
private[changelog] object SimpleConditions {

  private val mostRuns = 10

  def in(plan: LogicalPlan): LogicalPlan = {
    var (before, after) = (plan, BooleanSimplification(plan))
    var runs = 1
    while (runs < mostRuns && !after.fastEquals(before)) {
      before = after
      after = BooleanSimplification(before)
      runs += 1
    }
    after
  }
}

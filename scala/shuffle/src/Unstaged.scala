package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, LogicalQueryStage}

/**
 * A plan as it was before adaptive execution put stages into it. Of these it knows rows and bytes, and
 * nothing of columns: asked with them what was decided by a column's statistics would be taken back, and
 * adaptive execution, which has no plan with more shuffles, would go on with the old one, whatever it has found out
 * since, such as that a join can be a broadcast.
 */
private[shuffle] object Unstaged {
  def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp { case stage: LogicalQueryStage =>
    Unstaged(stage.logicalPlan)
  }
}

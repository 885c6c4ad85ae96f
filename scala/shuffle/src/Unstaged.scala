package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, LogicalQueryStage}

/**
 * A plan as it was before adaptive execution replaced parts of it by stages. A stage has rows and
 * bytes, but no column statistics. Asked with stages, the gate would withdraw decisions that rest
 * on column statistics. Adaptive execution does not accept a plan with more shuffles. It would keep
 * the old plan, and ignore what it has learned since, such as that a join can be a broadcast.
 */
private[shuffle] object Unstaged {
  def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp { case stage: LogicalQueryStage =>
    Unstaged(stage.logicalPlan)
  }
}

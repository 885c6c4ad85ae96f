package io.firesteel.panes

import io.firesteel.core.decide.{Decisions, Decline}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Records why sliding windows of a stream keep Spark's plan. It changes no plan.
 *
 * [[PlanPanes]] never sees these aggregates, because Spark's strategies for streams run first. So
 * this rule records the reason after the optimizer has simplified the plan. Later rules rarely copy
 * nodes, so the record stays.
 */
object DeclineStreamingPanes extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (plan.isStreaming) plan.foreach {
      case SlidingAggregate(query) if query.aggregate.isStreaming =>
        Decisions.decline(query.aggregate, PlanPanes.ruleName, why)
      case _ =>
    }
    plan
  }

  private def why: Decline =
    Decline.switchedOff("panes", PanesConf.ENABLED).getOrElse(PanesDecline.Streaming)
}

package io.firesteel.panes

import io.firesteel.core.decide.{Decisions, Decline}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Says why sliding windows of a stream keep Spark's plan. It changes nothing.
 *
 * [[PlanPanes]] never sees them: in a stream, Spark's own strategies are asked first. So this is told
 * after the optimizer has simplified the plan, when its nodes are hardly copied any more.
 */
object DeclineStreamingPanes extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (plan.isStreaming) plan.foreach {
      case PaneQuery(query) if query.aggregate.isStreaming =>
        Decisions.decline(query.aggregate, PlanPanes.ruleName, why)
      case _ =>
    }
    plan
  }

  private def why: Decline =
    Decline.switchedOff("panes", PanesConf.ENABLED).getOrElse(PanesDecline.Streaming)
}

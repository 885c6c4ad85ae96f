package io.firesteel.json

import io.firesteel.core.decide.{Decisions, Decline}

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

/**
 * Records why expressions over documents are Spark's; it plans nothing. [[FuseJson]] cannot record it,
 * because later rules copy its nodes.
 */
object DeclineJson extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = {
    // Spark plans a filter together with the projection above it.
    val together = plan +: plan.children.collect { case filter: Filter => filter }
    val left = together.filter(JsonCalls.isAt)
    if (left.nonEmpty) {
      val reasons = Decline.switchedOff("json", JsonConf.ENABLED).fold(
        left.flatMap(JsonCalls.declines))(Seq(_))
      reasons.foreach(Decisions.decline(plan, "FuseJson", _))
    }
    Nil
  }
}

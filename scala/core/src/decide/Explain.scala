package io.firesteel.core.decide

import org.apache.spark.sql.execution.{CommandResultExec, SparkPlan}
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, QueryStageExec}
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec

/** The rules that fired and declined for one physical plan. */
final case class Explain(fired: Seq[Fired], declined: Seq[Declined], plan: String)

object Explain {

  /** Reads the decisions from `plan`, including adaptive parts, subqueries and cached plans. */
  def of(plan: SparkPlan): Explain = {
    val nodes = everyNode(plan)
    val fired = nodes.collect {
      case node: FiredOperator if node.reportsDecision =>
        Fired(node.firedRule, node.firedMessage, node.firedValues)
    }
    // A rewrite tags several nodes.
    val rewritten = nodes.flatMap(Decisions.rewritesAt).distinct.map(_.what)
    // An aggregate's two halves have the same expressions.
    val made = nodes.flatMap(_.expressions).flatMap(_.collect { case one: FiredExpression =>
      one.fired
    }).distinct
    // One logical node is linked to every physical node it became: report a reason once per rule.
    val declined = nodes.flatMap(Decisions.declinesAt).distinct
    Explain(rewritten ++ fired ++ made, declined, plan.treeString)
  }

  /** A node is there once for each reader. */
  private[core] def everyNode(plan: SparkPlan): Seq[SparkPlan] = {
    val below = plan match {
      case adaptive: AdaptiveSparkPlanExec => Seq(adaptive.executedPlan)
      case stage: QueryStageExec => Seq(stage.plan)
      case reused: ReusedExchangeExec => Seq(reused.child)
      case cached: InMemoryTableScanExec => Seq(cached.relation.cachedPlan)
      // A command has already run, and its rows have replaced its plan.
      case result: CommandResultExec => Option(result.commandPhysicalPlan).toSeq
      case other => other.children
    }
    plan +: (below ++ plan.subqueries).flatMap(everyNode)
  }
}

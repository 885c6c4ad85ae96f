package io.firesteel.skew

import io.firesteel.core.decide.{Decisions, Decline}
import io.firesteel.core.plans.DecimalAverages
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.optimizer.EliminateSorts
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern

/**
 * Hides several `DISTINCT`s of an aggregate from Spark's `RewriteDistinctAggregates`, which copies
 * every row once for each of them.
 *
 * The decision is made here because Spark has rewritten the aggregate before planning starts. The
 * rule runs after all rules that simplify the aggregate and before the join order is chosen.
 */
object KeepDistinctAggregates extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformUpWithPruning(_.containsPattern(TreePattern.AGGREGATE)) {
      case aggregate: Aggregate
          if aggregate.hint.forall(_.isInstanceOf[PhasesHint]) && !KeptFunction.isIn(aggregate) =>
        DistinctQuery.of(aggregate) match {
          case None =>
            // Ordinary aggregates are not recognised and get no reason, unless a hint asks for two
            // phases.
            PhasesHint.of(aggregate).foreach(hint => decline(aggregate, onlyHinted(hint)))
            aggregate
          case Some(query) =>
            Decline.switchedOff("skew", SkewConf.ENABLED).orElse(query.refusal) match {
              case Some(why) =>
                decline(aggregate, why)
                aggregate
              case None => KeptFunction.keep(withAverages(withoutSorts(aggregate)), query.takes)
            }
        }
    }

  /**
   * Spark removes useless sorts later, but does not know that a [[KeptFunction]] ignores the order.
   */
  private def withoutSorts(aggregate: Aggregate): Aggregate =
    if (!aggregate.containsPattern(TreePattern.SORT)) aggregate
    else EliminateSorts(aggregate).asInstanceOf[Aggregate]

  /** Later, Spark's rule rewrites averages. It does not see them in a [[KeptFunction]]. */
  private def withAverages(aggregate: Aggregate): Aggregate =
    aggregate.transformExpressionsDown {
      case call: AggregateExpression => DecimalAverages.rewritten(call)
    }.asInstanceOf[Aggregate]

  private def decline(aggregate: Aggregate, why: Decline): Unit =
    Decisions.decline(aggregate, PlanDistinctAggregate.ruleName, why)

  private def onlyHinted(hint: PhasesHint): Decline = hint match {
    case PhasesHint.OnePhase => SkewDecline.OnePhase("the hint ONE_PHASE")
    case PhasesHint.TwoPhase(_) => SkewDecline.NothingToSplit
  }
}

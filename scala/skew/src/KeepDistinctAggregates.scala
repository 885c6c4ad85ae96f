package io.firesteel.skew

import io.firesteel.core.decide.{Decisions, Decline}
import org.apache.spark.sql.catalyst.optimizer.EliminateSorts
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern

/**
 * Takes aggregates with several `DISTINCT`s out of the hands of Spark's `RewriteDistinctAggregates`,
 * which makes a copy of every row for each of them.
 *
 * It decides here and not when planning: by then the rewrite has happened. It runs after every rule
 * that makes the aggregate simpler, just before the join order is chosen.
 */
object KeepDistinctAggregates extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformUpWithPruning(_.containsPattern(TreePattern.AGGREGATE)) {
      case aggregate: Aggregate
          if aggregate.hint.forall(_.isInstanceOf[PhasesHint]) && !KeptFunction.isIn(aggregate) =>
        DistinctQuery.of(aggregate) match {
          case None =>
            // Of ordinary aggregates nothing is said, unless the query asked.
            PhasesHint.of(aggregate).foreach(hint => decline(aggregate, onlyHinted(hint)))
            aggregate
          case Some(query) =>
            Decline.switchedOff("skew", SkewConf.ENABLED).orElse(query.refusal) match {
              case Some(why) =>
                decline(aggregate, why)
                aggregate
              case None => KeptFunction.keep(withoutSorts(aggregate), query.takes)
            }
        }
    }

  /** Spark looks for sorts in vain later: it does not know what is kept for a count or a sum. */
  private def withoutSorts(aggregate: Aggregate): Aggregate =
    if (!aggregate.containsPattern(TreePattern.SORT)) aggregate
    else EliminateSorts(aggregate).asInstanceOf[Aggregate]

  private def decline(aggregate: Aggregate, why: Decline): Unit =
    Decisions.decline(aggregate, PlanDistinctAggregate.ruleName, why)

  private def onlyHinted(hint: PhasesHint): Decline = hint match {
    case PhasesHint.OnePhase => SkewDecline.OnePhase("the hint ONE_PHASE")
    case PhasesHint.TwoPhase(_) => SkewDecline.NothingToSplit
  }
}

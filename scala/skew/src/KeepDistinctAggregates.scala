package io.firesteel.skew

import io.firesteel.core.{CoreConf, Decisions, Decline}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.internal.SQLConf

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
      case aggregate: Aggregate if aggregate.hint.isEmpty =>
        val (own, withResults) = PythonResults.off(aggregate)
        DistinctQuery.of(own).fold[LogicalPlan](aggregate) { query =>
          switchedOff.orElse(query.refusal) match {
            case Some(why) =>
              Decisions.decline(aggregate, PlanDistinctAggregate.ruleName, why)
              aggregate
            case None => withResults(DistinctAggregate.of(own))
          }
        }
    }

  private def switchedOff: Option[Decline] =
    Seq(CoreConf.ENABLED, SkewConf.ENABLED).collectFirst {
      case entry if !SQLConf.get.getConf(entry) => Decline.SwitchedOff("skew", entry.key)
    }
}

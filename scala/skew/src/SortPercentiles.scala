package io.firesteel.skew

import io.firesteel.core.decide.{Decisions, Decline}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Percentile}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern

/**
 * Computes exact percentiles (`percentile`, `median`, `percentile_cont`) from arrays of numbers
 * ([[SortedPercentile]]). Spark uses a hash map of boxed numbers. [[PlanPercentiles]] plans the
 * aggregate.
 *
 * More phases could not spread a hot key: all different values of a group must meet in the end.
 * Percentiles with frequencies or `DISTINCT` stay Spark's. Streams stay Spark's, too: their state
 * has Spark's format.
 */
object SortPercentiles extends Rule[LogicalPlan] {

  val name: String = "SortPercentiles"

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (plan.isStreaming) plan
    else plan.transformUpWithPruning(_.containsPattern(TreePattern.AGGREGATE)) {
      case aggregate: Aggregate if aggregate.aggregateExpressions.exists(_.exists(isPercentile)) =>
        Decline.switchedOff("skew", SkewConf.ENABLED, SkewConf.SORT_PERCENTILES) match {
          case Some(why) =>
            Decisions.decline(aggregate, name, why)
            aggregate
          case None =>
            AggregatingSource.ofDatabase(aggregate.child) match {
              case Some(table) =>
                Decisions.decline(aggregate, name, SkewDecline.SourceAggregates(table))
                aggregate
              case None =>
                aggregate.transformExpressions { case call if isPercentile(call) => of(call) }
            }
        }
    }

  private object PercentileCall {
    def unapply(expression: Expression): Option[(AggregateExpression, Percentile)] =
      expression match {
        case call: AggregateExpression =>
          Option(call.aggregateFunction).collect { case percentile: Percentile =>
            (call, percentile)
          }
        case _ => None
      }
  }

  private def isPercentile(expression: Expression): Boolean = expression match {
    case PercentileCall(call, function) =>
      !call.isDistinct && function.frequencyExpression == Literal(1L) && NumberCode.of(
        function.child.dataType).nonEmpty
    case _ => false
  }

  private def of(expression: Expression): Expression = expression match {
    case PercentileCall(call, function) =>
      val sorted =
        SortedPercentile(
          function.child,
          Seq(function.percentageExpression),
          Seq(function.reverse))
      call.copy(aggregateFunction = sorted)
    case other => other
  }
}

package io.firesteel.skew

import io.firesteel.core.decide.Decline
import io.firesteel.core.expressions.SumOrder
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionSet, PlanExpression, PythonFuncExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Sample}

/** Reasons not to merge aggregates over one input. */
private[skew] object MergeObjection {

  /** A reason that concerns one branch. The others may still be merged. */
  def to(branch: GlobalBranch): Option[Decline] = {
    // Not the functions: `first` may depend on the order of rows.
    val evaluated = branch.onRows
    Decline.switchedOff("skew", SkewConf.ENABLED, SkewConf.MERGE_AGGREGATES)
      .orElse(PhasesHint.of(branch.aggregate).map(hint => MergeDecline.Hinted(hint.name)))
      .orElse(evaluated.find(!_.deterministic).map(e => MergeDecline.NonDeterministic(e.sql)))
      .orElse(Option.when(!isRepeatable(branch.input))(MergeDecline.NonDeterministic("the input")))
      .orElse(
        evaluated.find(has(_.isInstanceOf[PlanExpression[_]])).map(e =>
          MergeDecline.Subquery(e.sql)))
      .orElse(
        (evaluated ++ branch.results)
          .find(has(_.isInstanceOf[PythonFuncExpression]))
          .map(e => MergeDecline.PythonFunction(e.sql)))
      .orElse(
        new BranchFilter(branch.conditions).unsafe.map(e => MergeDecline.FilterMayFail(e.sql)))
  }

  /** A reason that concerns all branches. */
  def toAll(branches: Seq[GlobalBranch]): Option[Decline] =
    MergeSource.objection(branches).orElse {
      SumOrder.confused(branches.flatMap(its => its.conditions ++ its.results))
        .map(sum => MergeDecline.SumOrder(sum.sql))
    }.orElse {
      val merged = MergedAggregate.of(branches)
      val columns = distinctColumns(merged)
      val alone = branches.map(branch => distinctColumns(branch.aggregate)).max
      if (columns > 1 && columns > alone && !isInOnePass(merged)) {
        Some(MergeDecline.DistinctColumns(columns))
      } else None
    }

  private def has(what: Expression => Boolean)(expression: Expression): Boolean =
    expression.exists(what)

  /** Spark considers `TABLESAMPLE` without a seed deterministic. */
  private def isRepeatable(input: LogicalPlan): Boolean =
    input.deterministic && !input.exists(_.isInstanceOf[Sample])

  /** Whether this room computes its `DISTINCT`s in one pass. */
  private def isInOnePass(aggregate: Aggregate): Boolean =
    DistinctQuery.of(aggregate).exists(_.refusal.isEmpty)

  /**
   * How many copies of a row Spark would make, without the one for functions without `DISTINCT`.
   */
  private def distinctColumns(aggregate: Aggregate): Int =
    aggregate.aggregateExpressions
      .flatMap(_.collect {
        case call: AggregateExpression if call.isDistinct =>
          ExpressionSet(call.aggregateFunction.children.filterNot(_.foldable))
      })
      .distinct
      .size
}

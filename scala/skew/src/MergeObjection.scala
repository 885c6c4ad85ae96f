package io.firesteel.skew

import io.firesteel.core.decide.Decline
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionSet, PlanExpression, PythonFuncExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Sample}

/** What speaks against computing an aggregate together with others of its input. */
private[skew] object MergeObjection {

  /** What is about one branch: the others may go on without it. */
  def to(branch: GlobalBranch): Option[Decline] = {
    // Not the functions themselves: `first` is allowed to depend on the order of rows.
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

  /** What is about all of them, over one input. */
  def toAll(branches: Seq[GlobalBranch]): Option[Decline] =
    MergeSource.objection(branches).orElse {
      val merged = MergedAggregate.of(branches)
      val columns = distinctColumns(merged)
      val alone = branches.map(branch => distinctColumns(branch.aggregate)).max
      if (columns > 1 && columns > alone && !isInOnePass(merged)) {
        Some(MergeDecline.DistinctColumns(columns))
      } else None
    }

  private def has(what: Expression => Boolean)(expression: Expression): Boolean =
    expression.exists(what)

  /** Spark counts a sample without a seed as deterministic. */
  private def isRepeatable(input: LogicalPlan): Boolean =
    input.deterministic && !input.exists(_.isInstanceOf[Sample])

  /** Whether this room computes its `DISTINCT`s without copying rows. */
  private def isInOnePass(aggregate: Aggregate): Boolean =
    DistinctQuery.of(aggregate).exists(_.refusal.isEmpty)

  /** How many times Spark would copy each row, less one for functions without `DISTINCT`. */
  private def distinctColumns(aggregate: Aggregate): Int =
    aggregate.aggregateExpressions
      .flatMap(_.collect {
        case call: AggregateExpression if call.isDistinct =>
          ExpressionSet(call.aggregateFunction.children.filterNot(_.foldable))
      })
      .distinct
      .size
}

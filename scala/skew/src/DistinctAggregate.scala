package io.firesteel.skew

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, AggregateHint, LogicalPlan, Statistics, UnaryNode}

/**
 * An aggregate whose `DISTINCT`s are computed together by [[PlanDistinctAggregate]].
 *
 * It says what `Aggregate` says. It has a class of its own so that Spark's
 * `RewriteDistinctAggregates`, which comes later, leaves it alone.
 */
private[skew] final case class DistinctAggregate(
    groupingExpressions: Seq[Expression],
    aggregateExpressions: Seq[NamedExpression],
    child: LogicalPlan,
    hint: Option[AggregateHint])
  extends UnaryNode {

  override def output: Seq[Attribute] = aggregateExpressions.map(_.toAttribute)

  override def maxRows: Option[Long] = asAggregate.maxRows

  // Joins above must see the size that they would see without this room.
  override def stats: Statistics = asAggregate.stats

  def asAggregate: Aggregate = Aggregate(groupingExpressions, aggregateExpressions, child, hint)

  override protected def withNewChildInternal(newChild: LogicalPlan): DistinctAggregate =
    copy(child = newChild)
}

private[skew] object DistinctAggregate {
  def of(aggregate: Aggregate): DistinctAggregate =
    DistinctAggregate(
      aggregate.groupingExpressions,
      aggregate.aggregateExpressions,
      aggregate.child,
      PhasesHint.of(aggregate))
}

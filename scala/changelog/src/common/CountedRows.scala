package io.firesteel.changelog.common

import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction, Count}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * Spark asks an aggregate for its value over no rows. `count_if` and others that are written as
 * `count` do not know it: in a batch query Spark has written them so by then.
 */
private[changelog] object CountedRows {

  def in(plan: LogicalPlan): LogicalPlan = plan.transformAllExpressions {
    case call: AggregateExpression =>
      call.copy(aggregateFunction = counting(call.aggregateFunction))
  }

  private def counting(function: AggregateFunction): AggregateFunction = function match {
    case written: RuntimeReplaceable =>
      Some(written.replacement).collect { case count: Count => count }.getOrElse(function)
    case other => other
  }
}

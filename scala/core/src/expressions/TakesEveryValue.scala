package io.firesteel.core.expressions

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateFunction, ApproximatePercentile, Collect, DeclarativeAggregate, HyperLogLogPlusPlus, Percentile}

/** An aggregate function of firesteel whose update never raises an error. */
private[firesteel] trait TakesEveryValue

/**
 * Whether an aggregate function never raises an error for a value of its arguments. An overflow of a
 * sum is found when the result is computed. Unknown functions count as able to fail, above all users'.
 */
private[firesteel] object TakesEveryValue {

  def apply(function: AggregateFunction): Boolean = function match {
    case _: TakesEveryValue | _: DeclarativeAggregate => true
    case _: HyperLogLogPlusPlus | _: Collect[_] | _: ApproximatePercentile => true
    case percentile: Percentile => percentile.frequencyExpression == Literal(1L)
    case _ => false
  }
}

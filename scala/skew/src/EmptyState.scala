package io.firesteel.skew

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateFunction, TypedImperativeAggregate}

/**
 * The state of a group of which a task has no rows yet. Spark has none for a group: it makes a state
 * for the group's first row. This room also sends states of groups of which a task has distinct values
 * alone.
 */
private[skew] object EmptyState {

  /**
   * Whether such a state can be sent, and changes nothing where it is merged. That of a user's function
   * may be null, some sketches of Spark 4.1 and 4.2 have none, and `kll_merge_agg` takes the size of
   * the first sketch.
   */
  def isNeutral(function: AggregateFunction): Boolean = function match {
    case typed: TypedImperativeAggregate[_] =>
      !typed.prettyName.startsWith("kll_merge_agg") && isSerialized(typed)
    case _ => true
  }

  private def isSerialized[T](function: TypedImperativeAggregate[T]): Boolean =
    Try(function.serialize(function.createAggregationBuffer())).isSuccess
}

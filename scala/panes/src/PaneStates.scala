package io.firesteel.panes

import org.apache.spark.sql.catalyst.expressions.{Attribute, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, PartialMerge}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.aggregate.{AggUtils, HashAggregateExec, ObjectHashAggregateExec, SortAggregateExec}

/**
 * Spark's own aggregates by key and pane, up to the states that panes are merged from.
 *
 * {{{
 *   HashAggregate [k, pane], [merge_sum(v)]
 *   +- Exchange hashpartitioning(k)             EnsureRequirements adds it
 *      +- HashAggregate [k, pane], [partial_sum(v)]
 * }}}
 *
 * Rows are clustered by key alone, since the panes of a key make up its windows together. Generated
 * code, the choice of hash, object-hash or sort aggregate and spilling are all Spark's.
 */
private[panes] object PaneStates {

  /** A plan that gives keys, pane and states, with one row for each key and pane. */
  def plan(
      keys: Seq[NamedExpression],
      pane: NamedExpression,
      functions: Seq[AggregateExpression],
      child: SparkPlan): SparkPlan = {
    val groups: Seq[Attribute] = (keys :+ pane).map(_.toAttribute)
    val states = groups ++ functions.flatMap(_.aggregateFunction.inputAggBufferAttributes)
    val clusteredBy = Some(keys.map(_.toAttribute))
    // A filter is for rows: what is merged has passed it.
    val merging = functions.map(_.copy(mode = PartialMerge, filter = None))
    AggUtils.planAggregateWithoutDistinct(keys :+ pane, functions, Nil, child).head match {
      case hash: HashAggregateExec =>
        hash.copy(
          requiredChildDistributionExpressions = clusteredBy,
          aggregateExpressions = merging,
          resultExpressions = states)
      case objectHash: ObjectHashAggregateExec =>
        objectHash.copy(
          requiredChildDistributionExpressions = clusteredBy,
          aggregateExpressions = merging,
          resultExpressions = states)
      case sort: SortAggregateExec =>
        sort.copy(
          requiredChildDistributionExpressions = clusteredBy,
          aggregateExpressions = merging,
          resultExpressions = states)
      case other => throw new IllegalStateException(s"not an aggregate of Spark's: $other")
    }
  }
}

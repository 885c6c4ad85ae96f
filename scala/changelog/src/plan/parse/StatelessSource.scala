package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.plan.SharedChanges
import io.firesteel.changelog.sql.{RowKindFunction, StateTtl}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.{Cross, FullOuter, Inner, RightOuter}
import org.apache.spark.sql.catalyst.plans.logical.{CollectMetrics, Deduplicate, DeduplicateWithinWatermark, DeserializeToObject, EventTimeWatermark, Expand, Filter, Generate, Join, LeafNode, LogicalPlan, MapElements, MapInArrow, MapInPandas, MapPartitions, Project, RebalancePartitions, RepartitionOperation, ResolvedHint, SerializeFromObject, SubqueryAlias, TypedFilter, Union, View}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils

/**
 * A part of a query that Spark plans by itself, with insert-only rows. It contains no `row_kind()`.
 * It keeps no state, except the keys of Spark's `dropDuplicates`. Joins with a table that is no
 * stream may belong to it.
 */
private[changelog] object StatelessSource {

  def unapply(plan: LogicalPlan): Option[LogicalPlan] =
    if (!plan.isStreaming) None
    else Some(StateTtl.removed(plan)).filter(rows => isStateless(rows) && !asksRowKind(rows))

  /** Whether Spark runs it, a join with a table for instance. */
  def is(plan: LogicalPlan): Boolean = unapply(plan).nonEmpty

  private def isStateless(plan: LogicalPlan): Boolean = !plan.isStreaming || (plan match {
    case _: SharedChanges => false
    case _: LeafNode => true
    case union: Union => union.children.forall(c => c.isStreaming && isStateless(c))
    case join: Join =>
      isSparks(join) && join.children.forall(isStateless)
    case _: Project | _: Filter | _: SubqueryAlias | _: View | _: EventTimeWatermark |
        _: Generate | _: Expand | _: ResolvedHint | _: RepartitionOperation |
        _: DeserializeToObject | _: SerializeFromObject | _: MapElements | _: MapPartitions |
        _: TypedFilter | _: MapInPandas | _: MapInArrow | _: CollectMetrics |
        _: RebalancePartitions =>
      plan.children.forall(isStateless)
    case first: Deduplicate => areSparks(first.keys) && isStateless(first.child)
    case first: DeduplicateWithinWatermark => areSparks(first.keys) && isStateless(first.child)
    case _ => false
  })

  /** Whether Spark's state can have the keys: equal values have equal bytes. */
  private def areSparks(keys: Seq[Attribute]): Boolean =
    keys.forall(key => UnsafeRowUtils.isBinaryStable(key.dataType))

  /** Whether Spark runs the join with a table: it keeps no row of the table without a match. */
  private[parse] def isSparks(join: Join): Boolean = join.children.map(_.isStreaming) match {
    case Seq(true, false) => join.joinType != RightOuter && join.joinType != FullOuter
    case Seq(false, true) =>
      join.joinType == Inner || join.joinType == Cross || join.joinType == RightOuter
    case _ => false
  }

  private def asksRowKind(plan: LogicalPlan): Boolean =
    plan.exists(_.expressions.exists(RowKindFunction.isIn))
}

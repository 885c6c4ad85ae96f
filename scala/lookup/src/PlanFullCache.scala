package io.firesteel.lookup

import org.apache.spark.sql.catalyst.expressions.{BindReferences, SubqueryExpression}
import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.{BroadcastMode, IdentityBroadcastMode}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.{BroadcastHashJoinExec, BroadcastNestedLoopJoinExec, HashedRelationBroadcastMode, HashJoin}
import org.apache.spark.sql.firesteel.EquiJoin

/**
 * Plans a join with a dimension that is loaded whole: Spark's own broadcast join, over a relation
 * that outlives a micro-batch.
 */
private[lookup] object PlanFullCache {

  /** @param rule the strategy's name, which the node reports */
  def apply(
      rule: String,
      query: LookupQuery,
      dimension: LogicalPlan,
      policy: CachePolicy.Full,
      left: SparkPlan): SparkPlan = {
    def unmarked(plan: LogicalPlan): LogicalPlan = plan match {
      case table: LookupTable => unmarked(table.child)
      // Lookups within it keep their options; a column of a time may have been pruned.
      case end if end eq query.dimension =>
        dimension.transform { case table: LookupTable => table.copy(asOf = None) }
      case other => other.mapChildren(unmarked)
    }
    val right = unmarked(query.join.right)
    def cache(rows: LogicalPlan, mode: BroadcastMode) =
      FullCacheExec(rule, query.name, rows, mode, policy.reload)
    EquiJoin.of(query.join.copy(right = right)) match {
      // Spark does not look for subqueries in the mode of a broadcast.
      case Some(EquiJoin(joinType, leftKeys, rightKeys, condition))
          if !rightKeys.exists(SubqueryExpression.hasSubquery) =>
        val bound =
          BindReferences.bindReferences(HashJoin.rewriteKeyExpr(rightKeys), right.output)
        val loaded = cache(right, HashedRelationBroadcastMode(bound))
        BroadcastHashJoinExec(leftKeys, rightKeys, joinType, BuildRight, condition, left, loaded)
      // An equality with a constant is a filter of the dimension by now.
      case None if LookupQuery.candidates(query).nonEmpty =>
        BroadcastNestedLoopJoinExec(
          left,
          cache(right, IdentityBroadcastMode),
          BuildRight,
          query.join.joinType,
          query.join.condition)
      case _ =>
        throw LookupErrors.noKey(query.name, Nil, query.join.condition.fold("none")(_.sql))
    }
  }
}

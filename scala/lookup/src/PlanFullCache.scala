package io.firesteel.lookup

import org.apache.spark.sql.catalyst.expressions.BindReferences
import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.{BroadcastHashJoinExec, HashedRelationBroadcastMode, HashJoin}
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
    EquiJoin.of(query.join.copy(right = right)) match {
      case Some(EquiJoin(joinType, leftKeys, rightKeys, condition)) =>
        val bound =
          BindReferences.bindReferences(HashJoin.rewriteKeyExpr(rightKeys), right.output)
        val cache = FullCacheExec(
          rule,
          query.name,
          right,
          HashedRelationBroadcastMode(bound),
          policy.reload)
        BroadcastHashJoinExec(leftKeys, rightKeys, joinType, BuildRight, condition, left, cache)
      case _ =>
        throw LookupErrors.noKey(query.name, Nil, query.join.condition.fold("none")(_.sql))
    }
  }
}

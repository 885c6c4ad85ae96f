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
    // From below: the marked plan may be the relation itself.
    val right = query.join.right.transformUp {
      case table: LookupTable => table.child
      case relation: LookupRelation if relation == query.dimension => dimension
    }
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

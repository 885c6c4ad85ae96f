package io.firesteel.lookup

import org.apache.spark.sql.catalyst.expressions.{Alias, BindReferences, Expression, PlanExpression}
import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.plans.physical.{BroadcastMode, IdentityBroadcastMode}
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan}
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
      case Some(EquiJoin(joinType, leftKeys, rightKeys, condition)) =>
        val (keys, rows) = withKeys(right, rightKeys)
        val bound = BindReferences.bindReferences(HashJoin.rewriteKeyExpr(keys), rows.output)
        val joined = BroadcastHashJoinExec(
          leftKeys,
          keys,
          joinType,
          BuildRight,
          condition,
          left,
          cache(rows, HashedRelationBroadcastMode(bound)))
        if (rows eq right) joined else ProjectExec(query.join.output, joined)
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

  /**
   * The keys of the dimension and its rows. Those with a subquery are columns that its own query
   * computes: Spark does not look for subqueries in the mode of a broadcast.
   */
  private def withKeys(
      dimension: LogicalPlan,
      keys: Seq[Expression]): (Seq[Expression], LogicalPlan) = {
    val named = keys.zipWithIndex.map {
      case (key, i) if key.exists(_.isInstanceOf[PlanExpression[_]]) =>
        Alias(key, s"lookup_key_$i")()
      case (key, _) => key
    }
    val added = named.collect { case key: Alias => key }
    val columns = named.map {
      case key: Alias => key.toAttribute
      case other => other
    }
    (columns, if (added.isEmpty) dimension else Project(dimension.output ++ added, dimension))
  }
}

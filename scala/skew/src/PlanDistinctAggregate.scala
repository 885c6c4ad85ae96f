package io.firesteel.skew

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Final}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.aggregate.{HashAggregateExec, ObjectHashAggregateExec, SortAggregateExec}
import org.apache.spark.sql.types.{BinaryType, IntegerType}

/**
 * Plans several `DISTINCT` aggregates so that each row is read once.
 *
 * {{{
 *   Aggregate [k], count(DISTINCT a),       HashAggregate [k], count(a), count(b), sum(v)   (final)
 *             count(DISTINCT b), sum(v)  => +- Exchange hashpartitioning(k)
 *   +- child                                   +- MergeDistinct [k], [a], [b]
 *                                                 +- Exchange hashpartitioning(bucket)
 *                                                    +- PartialDistinct [k], [a], [b]
 *                                                       +- child
 * }}}
 *
 * A value goes to the bucket of its hash in its group, so that all copies of it meet in one task
 * and the values of one large group are spread over all. Each task above makes of its values what a
 * partial aggregate of Spark's would, and Spark's own final aggregate adds that up.
 *
 * Exact, because buckets share no value. Flink counterpart: `SplitAggregateRule`.
 */
object PlanDistinctAggregate extends SparkStrategy {

  val ruleName: String = "PlanDistinctAggregate"

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case node: DistinctAggregate =>
      DistinctQuery.of(node.asAggregate).map(planned).toSeq
    case _ => Nil
  }

  private def planned(query: DistinctQuery): SparkPlan = {
    val keys = query.grouping.map(_.toAttribute)
    val bucket = AttributeReference("bucket", IntegerType, nullable = false)()
    val block = AttributeReference("block", BinaryType, nullable = false)()
    val functions = query.ordinary ++ query.columns.flatMap(_.functions)
    val partial = PartialDistinctExec(
      query.grouping,
      query.ordinary,
      query.columns.map(_.added),
      query.columns.map(_.isNumber),
      bucket,
      block,
      planLater(query.child))
    val (moved, values) = query.columns.map(_.overValues).unzip
    val merge = MergeDistinctExec(
      keys,
      query.ordinary,
      moved,
      values,
      query.columns.map(_.isCount),
      query.columns.map(_.isNumber),
      bucket,
      keys ++ functions.flatMap(_.aggregateFunction.inputAggBufferAttributes),
      partial
    )
    finished(keys, functions, query.results, merge)
  }

  /** The operator that Spark would use for the last step. */
  private def finished(
      keys: Seq[NamedExpression],
      functions: Seq[AggregateExpression],
      results: Seq[NamedExpression],
      child: SparkPlan): SparkPlan = {
    val last = functions.map(_.copy(mode = Final, isDistinct = false, filter = None))
    val attributes = last.map(_.resultAttribute)
    val buffers = last.flatMap(_.aggregateFunction.aggBufferAttributes)
    val required = Some(keys)
    if (Aggregate.supportsHashAggregate(buffers, keys))
      HashAggregateExec(
        required,
        isStreaming = false,
        None,
        keys,
        last,
        attributes,
        keys.size,
        results,
        child)
    else if (Aggregate.supportsObjectHashAggregate(last, keys))
      ObjectHashAggregateExec(
        required,
        isStreaming = false,
        None,
        keys,
        last,
        attributes,
        keys.size,
        results,
        child)
    else
      SortAggregateExec(
        required,
        isStreaming = false,
        None,
        keys,
        last,
        attributes,
        keys.size,
        results,
        child)
  }
}

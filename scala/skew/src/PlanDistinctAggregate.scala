package io.firesteel.skew

import io.firesteel.core.expressions.Apart
import io.firesteel.core.rows.{KeyReader, WideSum}
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.optimizer.RewriteDistinctAggregates
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.aggregate.AggUtils
import org.apache.spark.sql.types.{BinaryType, IntegerType}

/**
 * Plans several `DISTINCT` aggregates to read each row once.
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
 * A value goes to the bucket given by its hash and its group's hash. All copies of a value meet in
 * one task, and the values of one large group are spread over all tasks. Like Spark's partial
 * aggregate, each task above computes states from its values. Spark's own final aggregate merges
 * them.
 *
 * Exact, because buckets share no value. Flink counterpart: `SplitAggregateRule`.
 */
object PlanDistinctAggregate extends SparkStrategy {

  val ruleName: String = "PlanDistinctAggregate"

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case aggregate: Aggregate if KeptFunction.isIn(aggregate) =>
      // `KeepDistinctAggregates` has decided about sets.
      val written = KeptFunction.asWritten(aggregate)
      DistinctQuery.of(written, hasKeptSet(aggregate)).map { query =>
        if (query.isPossible) planned(query) else planLater(RewriteDistinctAggregates(written))
      }.toSeq
    case _ => Nil
  }

  private def hasKeptSet(aggregate: Aggregate): Boolean =
    aggregate.aggregateExpressions.exists(_.exists {
      case kept: KeptFunction => !kept.isDistinct
      case _ => false
    })

  /** Also for an ordinary `Aggregate` that [[PlanSampledSets]] has decided to compute. */
  private[skew] def planned(written: DistinctQuery): SparkPlan = {
    val arguments = Arguments.of(written.ordinary, always = written.isRewritten)
    // Early partial results and distinct values are added in another order than Spark's.
    val query = written.copy(
      ordinary = written.ordinary.map(call => WideSum.of(arguments.over(call))),
      columns = written.columns.map(column =>
        column.copy(functions = column.functions.map(WideSum.of)))
    )
    val keys = query.grouping.map(_.toAttribute)
    val bucket = AttributeReference("bucket", IntegerType, nullable = false)()
    val block = AttributeReference("block", BinaryType, nullable = false)()
    val functions = query.ordinary ++ query.columns.flatMap(_.functions)
    val added = query.columns.map(_.added).map {
      case column: Attribute => column
      case computed => Alias(computed, "added")()
    }
    val read = query.ordinary.flatMap(_.references).distinct
    val partial = PartialDistinctExec(
      keys,
      query.ordinary,
      added.map(_.toAttribute),
      query.columns.map(_.isNumber),
      bucket,
      block,
      query.phases.buckets,
      KeyReader.project(
        query.grouping ++ Apart.of(added ++ arguments.columns) ++ read,
        planLater(query.child))
    )
    val (moved, values) = query.columns.map(_.overValues).unzip
    val merge = MergeDistinctExec(
      keys,
      query.ordinary,
      moved,
      values,
      query.columns.map(_.isCount),
      query.columns.map(_.isNumber),
      bucket,
      query.phases.buckets,
      keys ++ functions.flatMap(_.aggregateFunction.inputAggBufferAttributes),
      partial
    )
    finished(keys, functions, query.results, merge)
  }

  /** Spark's final aggregate, over our operator instead of its partial aggregate. */
  private def finished(
      keys: Seq[NamedExpression],
      functions: Seq[AggregateExpression],
      results: Seq[NamedExpression],
      merge: SparkPlan): SparkPlan = {
    val parts = functions.map(_.copy(isDistinct = false, filter = None))
    AggUtils
      .planAggregateWithoutDistinct(keys, parts, results, merge)
      .head
      .withNewChildren(Seq(merge))
  }
}

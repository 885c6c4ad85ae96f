package io.firesteel.skew

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, Literal, UnevaluableAggregateFunc}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction}
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * An aggregate function that [[PlanDistinctAggregate]] will compute.
 *
 * It hides the `DISTINCT` of its call from Spark's `RewriteDistinctAggregates`, which runs later.
 * The node stays Spark's `Aggregate`, so Spark's other rules still apply to it, such as partition
 * pruning by a join above, or `IN (SELECT ...)` among the results.
 *
 * @param isDistinct whether the call had a `DISTINCT`; otherwise it is a set, which is computed
 *   alike
 */
private[skew] final case class KeptFunction(function: AggregateFunction, isDistinct: Boolean)
  extends UnevaluableAggregateFunc {

  /**
   * The function's children. Spark's `MergeSubplans` may add another `DISTINCT` to the aggregate;
   * `RewriteDistinctAggregates` then gives all functions columns for their children.
   */
  override def children: Seq[Expression] = function.children

  override def dataType: DataType = function.dataType
  override def nullable: Boolean = function.nullable
  override def defaultResult: Option[Literal] = function.defaultResult

  override def aggBufferSchema: StructType = function.aggBufferSchema
  override def aggBufferAttributes: Seq[AttributeReference] = function.aggBufferAttributes
  override def inputAggBufferAttributes: Seq[AttributeReference] =
    function.inputAggBufferAttributes

  override def prettyName: String = function.prettyName
  override def sql(isDistinct: Boolean): String = function.sql(this.isDistinct)
  override def toAggString(isDistinct: Boolean): String = function.toAggString(this.isDistinct)

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): KeptFunction =
    copy(function = function.withNewChildren(newChildren).asInstanceOf[AggregateFunction])
}

private[skew] object KeptFunction {

  def isIn(aggregate: Aggregate): Boolean =
    aggregate.aggregateExpressions.exists(_.exists(_.isInstanceOf[KeptFunction]))

  /** The aggregate, with the `chosen` calls kept. */
  def keep(aggregate: Aggregate, chosen: AggregateExpression => Boolean): Aggregate =
    changed(aggregate) { call =>
      if (!chosen(call)) call
      else
        call.copy(
          aggregateFunction = KeptFunction(call.aggregateFunction, call.isDistinct),
          isDistinct = false)
    }

  /** The aggregate as the query wrote it. */
  def asWritten(aggregate: Aggregate): Aggregate =
    changed(aggregate) { call =>
      call.aggregateFunction match {
        case kept: KeptFunction =>
          call.copy(aggregateFunction = kept.function, isDistinct = kept.isDistinct)
        case _ => call
      }
    }

  private def changed(aggregate: Aggregate)(
      change: AggregateExpression => AggregateExpression): Aggregate =
    aggregate
      .transformExpressions { case call: AggregateExpression => change(call) }
      .asInstanceOf[Aggregate]
}

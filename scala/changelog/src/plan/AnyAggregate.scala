package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.{Expression, Unevaluable}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.types.DataType

/**
 * A call of an aggregate function that Spark's own code computes. Over insert-only rows its buffers
 * are merged into state. Over rows with retractions it is computed again from the rows that are
 * left.
 *
 * @param filter a boolean column: the rows that count
 */
final private[changelog] case class AnyAggregate(
    function: AggregateFunction,
    filter: Option[Expression])
  extends Expression
  with Unevaluable {

  override def children: Seq[Expression] = function +: filter.toSeq
  override def dataType: DataType = function.dataType
  override def nullable: Boolean = function.nullable
  override def prettyName: String = function.prettyName

  // State keeps the emitted result, so a retraction repeats it even if the function is not
  // deterministic.
  override lazy val deterministic: Boolean = true

  /** Columns and constants that the function reads. */
  def arguments: Seq[Expression] = function.children

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): Expression =
    AnyAggregate(newChildren.head.asInstanceOf[AggregateFunction], newChildren.lift(1))
}

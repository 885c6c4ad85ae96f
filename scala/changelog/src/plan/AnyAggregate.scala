package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.{Expression, Unevaluable}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.types.DataType

/**
 * A call of an aggregate function of which nothing is known but that Spark computes it: its results
 * come from Spark's own code, over rows that only come by merging what it keeps, over rows that go
 * by computing it anew over those that stay.
 *
 * @param filter a column that says which rows count
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

  // Its result is kept as it was told, whatever the function would say another time.
  override lazy val deterministic: Boolean = true

  /** Columns and constants that the function reads. */
  def arguments: Seq[Expression] = function.children

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): Expression =
    AnyAggregate(newChildren.head.asInstanceOf[AggregateFunction], newChildren.lift(1))
}

package io.firesteel.changelog.aggregate.slots

import io.firesteel.changelog.plan.AnyAggregate
import io.firesteel.core.rows.MergeableAggregates
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, BoundReference, Expression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction, ApproximatePercentile, Complete, CountMinSketchAgg, HllSketchAgg, HllUnionAgg, TypedImperativeAggregate}
import org.apache.spark.sql.types.{DataType, StructField}

/**
 * Spark's own code of one aggregate function, over rows of the columns that it reads.
 *
 * @param call reads its columns by places
 * @param columns those places
 */
final private[aggregate] class SparkAggregate(
    call: AnyAggregate,
    columns: Seq[Int],
    types: Seq[DataType])
  extends Serializable {

  @transient private[this] lazy val aggregates: MergeableAggregates = {
    val input: Seq[Attribute] = types.map(AttributeReference("column", _)())
    def bound(e: Expression) = e.transform { case place: BoundReference =>
      input(columns.indexOf(place.ordinal))
    }
    val function = bound(call.function).asInstanceOf[AggregateFunction]
    val expression =
      AggregateExpression(function, Complete, isDistinct = false, call.filter.map(bound))
    new MergeableAggregates(Seq(expression), input)
  }

  /** Columns of the function's state. */
  def state: Seq[StructField] =
    call.function.aggBufferAttributes.map(a => StructField(a.name, a.dataType))

  /** Whether the function keeps an object of variable size; a sketch does not count. */
  def isObject: Boolean = call.function match {
    case _: ApproximatePercentile | _: CountMinSketchAgg | _: HllSketchAgg | _: HllUnionAgg => false
    case function => function.isInstanceOf[TypedImperativeAggregate[_]]
  }

  def newBuffer(): InternalRow = aggregates.newBuffer()

  def update(buffer: InternalRow, row: InternalRow): Unit = aggregates.update(buffer, row)

  def merge(buffer: InternalRow, state: InternalRow): Unit = aggregates.merge(buffer, state)

  /** A buffer's state, in a row that the next call reuses. */
  def stateOf(buffer: InternalRow): InternalRow = aggregates.state(buffer)

  def result(buffer: InternalRow): Any =
    InternalRow.copyValue(aggregates.results(buffer).get(0, call.dataType))
}

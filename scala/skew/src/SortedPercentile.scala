package io.firesteel.skew

import io.firesteel.core.decide.{Fired, FiredExpression}
import io.firesteel.core.expressions.TakesEveryValue
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow, Literal}
import org.apache.spark.sql.catalyst.expressions.aggregate.{Percentile, TypedImperativeAggregate}
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.sql.types.{ArrayType, DataType, DoubleType, FloatType, StructType}

/**
 * Spark's `percentile` over arrays of numbers instead of a hash map of boxed numbers.
 *
 * @param percentages one or an array, constant; for several calls over the same numbers one of each
 *   call, and the result is a struct
 * @param reverses for each call whether positions count from the largest number
 */
final case class SortedPercentile(
    child: Expression,
    percentages: Seq[Expression],
    reverses: Seq[Boolean],
    override val mutableAggBufferOffset: Int = 0,
    override val inputAggBufferOffset: Int = 0)
  extends TypedImperativeAggregate[NumberCounts]
  with TakesEveryValue
  with FiredExpression {

  override def fired: Fired =
    Fired(SortPercentiles.name, "exact percentiles from sorted numbers", Map.empty)

  override def children: Seq[Expression] = child +: percentages
  override def prettyName: String = "percentile"
  override def nullable: Boolean = true

  override def dataType: DataType =
    if (resultTypes.size == 1) resultTypes.head
    else resultTypes.zipWithIndex.foldLeft(new StructType) { case (struct, (one, i)) =>
      struct.add(s"p$i", one)
    }

  private lazy val resultTypes: Seq[DataType] = percentages.map(_.dataType match {
    case _: ArrayType => ArrayType(DoubleType, containsNull = false)
    case _ => DoubleType
  })

  private lazy val code = NumberCode.of(child.dataType).getOrElse {
    throw new IllegalStateException(s"no code for ${child.dataType.sql}")
  }

  override def createAggregationBuffer(): NumberCounts = new NumberCounts

  override def update(buffer: NumberCounts, input: InternalRow): NumberCounts = {
    val value = child.eval(input)
    if (value != null) buffer.add(code.encode(value))
    buffer
  }

  override def merge(buffer: NumberCounts, other: NumberCounts): NumberCounts = {
    buffer.add(other)
    buffer
  }

  override def eval(buffer: NumberCounts): Any = {
    val total = buffer.total
    if (total == 0L) null
    else {
      val last = total - 1
      val places = calls.flatMap { case (wanted, reverse) =>
        wanted.flatMap { percentage =>
          val position = last * percentage
          val (lower, higher) = (position.floor.toLong, position.ceil.toLong)
          if (reverse) Array(last - lower, last - higher) else Array(lower, higher)
        }
      }
      val found = buffer.at(places).iterator
      val results = calls.zip(percentages).map { case ((wanted, _), written) =>
        resultOf(wanted.map(p => between(last * p, found.next(), found.next())), written)
      }
      if (results.length == 1) results.head else new GenericInternalRow(results)
    }
  }

  /** Without percentages Spark's result is null, not an empty array. */
  private def resultOf(values: Array[Double], written: Expression): Any =
    if (values.isEmpty) null
    else if (written.dataType.isInstanceOf[ArrayType]) new GenericArrayData(values)
    else values.head

  /** Two large whole numbers may be the same as doubles: Spark interpolates between these, too. */
  private def between(position: Double, lower: Long, higher: Long): Double = {
    val (low, high) = (code.toDouble(lower), code.toDouble(higher))
    if (lower == higher || isFractional && low == high) low
    else Interpolation(position, position.floor.toLong, low, high)
  }

  private def isFractional: Boolean = child.dataType == DoubleType || child.dataType == FloatType

  private lazy val calls: Array[(Array[Double], Boolean)] =
    percentages.map(_.eval()).zip(reverses).map {
      case (several: ArrayData, reverse) => (several.toDoubleArray(), reverse)
      case (one, reverse) => (Array(one.asInstanceOf[Double]), reverse)
    }.toArray

  override def serialize(buffer: NumberCounts): Array[Byte] = buffer.toBytes
  override def deserialize(bytes: Array[Byte]): NumberCounts = NumberCounts.of(bytes)

  override def withNewMutableAggBufferOffset(offset: Int): SortedPercentile =
    copy(mutableAggBufferOffset = offset)
  override def withNewInputAggBufferOffset(offset: Int): SortedPercentile =
    copy(inputAggBufferOffset = offset)
  override protected def withNewChildrenInternal(
      changed: IndexedSeq[Expression]): SortedPercentile =
    copy(child = changed.head, percentages = changed.tail)
}

private[skew] object SortedPercentile {

  def isIn(aggregate: Aggregate): Boolean =
    aggregate.aggregateExpressions.exists(_.exists(_.isInstanceOf[SortedPercentile]))

  /** The aggregate as the query wrote it. */
  def asWritten(aggregate: Aggregate): Aggregate =
    aggregate.transformExpressions { case one: SortedPercentile =>
      Percentile(one.child, one.percentages.head, Literal(1L), reverse = one.reverses.head)
    }.asInstanceOf[Aggregate]
}

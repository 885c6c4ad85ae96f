package io.firesteel.skew

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate
import org.apache.spark.sql.catalyst.trees.BinaryLike
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.sql.types.{ArrayType, ByteType, DataType, Decimal, DecimalType, DoubleType, FloatType, IntegerType, LongType, ShortType}

/**
 * Spark's `percentile` over sorted arrays of numbers instead of a hash map of boxed numbers.
 *
 * @param percentages one or an array, constant
 * @param reverse whether positions count from the largest number
 */
final case class SortedPercentile(
    child: Expression,
    percentages: Expression,
    reverse: Boolean,
    override val mutableAggBufferOffset: Int = 0,
    override val inputAggBufferOffset: Int = 0)
  extends TypedImperativeAggregate[NumberCounts]
  with BinaryLike[Expression] {

  override def left: Expression = child
  override def right: Expression = percentages
  override def prettyName: String = "percentile"
  override def nullable: Boolean = true

  override def dataType: DataType = percentages.dataType match {
    case _: ArrayType => ArrayType(DoubleType, containsNull = false)
    case _ => DoubleType
  }

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

  /** Interpolates linearly between the two numbers next to a position, as Spark does. */
  override def eval(buffer: NumberCounts): Any = {
    val total = buffer.total
    // Without percentages Spark's result is null, not an empty array.
    if (total == 0L || wanted.isEmpty) null
    else {
      val results = wanted.map { percentage =>
        val position = (total - 1) * percentage
        val (lower, higher) = (position.floor.toLong, position.ceil.toLong)
        val places =
          if (reverse) Array(total - 1 - lower, total - 1 - higher) else Array(lower, higher)
        val found = buffer.at(places).map(code.toDouble)
        val (low, high) = (found(0), found(1))
        if (low == high) low else Interpolation(position, lower, low, high)
      }
      if (percentages.dataType.isInstanceOf[ArrayType]) new GenericArrayData(results)
      else results.head
    }
  }

  private lazy val wanted: Array[Double] = percentages.eval() match {
    case several: ArrayData => several.toDoubleArray()
    case one => Array(one.asInstanceOf[Double])
  }

  override def serialize(buffer: NumberCounts): Array[Byte] = buffer.toBytes
  override def deserialize(bytes: Array[Byte]): NumberCounts = NumberCounts.of(bytes)

  override def withNewMutableAggBufferOffset(offset: Int): SortedPercentile =
    copy(mutableAggBufferOffset = offset)
  override def withNewInputAggBufferOffset(offset: Int): SortedPercentile =
    copy(inputAggBufferOffset = offset)
  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): SortedPercentile = copy(child = newLeft, percentages = newRight)
}

/** Numbers of a type as whole numbers of the same order. */
private[skew] final class NumberCode(val encode: Any => Long, val toDouble: Long => Double)
  extends Serializable

private[skew] object NumberCode {

  /**
   * `None` for decimals of more than 18 digits, and for intervals, for which Spark returns
   * intervals.
   */
  def of(dataType: DataType): Option[NumberCode] = dataType match {
    case ByteType | ShortType | IntegerType | LongType =>
      Some(new NumberCode(_.asInstanceOf[Number].longValue, _.toDouble))
    case FloatType | DoubleType =>
      Some(new NumberCode(value => ofDouble(value.asInstanceOf[Number].doubleValue), toDouble(_)))
    case decimal: DecimalType if decimal.precision <= Decimal.MAX_LONG_DIGITS =>
      Some(new NumberCode(
        _.asInstanceOf[Decimal].toUnscaledLong,
        Decimal(_, decimal.precision, decimal.scale).toDouble))
    case _ => None
  }

  // For negative numbers larger bits mean smaller numbers. All NaNs are equal, above infinity.
  private def ofDouble(value: Double): Long = {
    val bits = java.lang.Double.doubleToLongBits(value)
    if (bits < 0) bits ^ Long.MaxValue else bits
  }

  private def toDouble(code: Long): Double =
    java.lang.Double.longBitsToDouble(if (code < 0) code ^ Long.MaxValue else code)
}

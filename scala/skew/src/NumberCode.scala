package io.firesteel.skew

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.{ByteType, DataType, Decimal, DecimalType, DoubleType, FloatType, IntegerType, LongType, ShortType}

/**
 * Numbers of a type as whole numbers of the same order.
 *
 * @param java a Java expression for the code of a value, given as another
 */
private[skew] final class NumberCode(
    val encode: Any => Long,
    val java: String => String,
    val toDouble: Long => Double)
  extends Serializable

private[firesteel] object NumberCode {

  /**
   * `None` for decimals of more than 18 digits, and for intervals.
   */
  private[skew] def of(dataType: DataType): Option[NumberCode] = dataType match {
    case ByteType | ShortType | IntegerType | LongType =>
      Some(new NumberCode(_.asInstanceOf[Number].longValue, value => s"(long) $value", _.toDouble))
    case FloatType | DoubleType =>
      Some(new NumberCode(
        value => ofDouble(value.asInstanceOf[Number].doubleValue),
        value => s"${NumberCode.getClass.getName.stripSuffix("$")}.ofDouble((double) $value)",
        toDouble(_)
      ))
    case decimal: DecimalType if decimal.precision <= Decimal.MAX_LONG_DIGITS =>
      Some(new NumberCode(
        _.asInstanceOf[Decimal].toUnscaledLong,
        value => s"$value.toUnscaledLong()",
        Decimal(_, decimal.precision, decimal.scale).toDouble))
    case _ => None
  }

  /** For negative numbers larger bits mean smaller numbers. All NaNs are equal, above infinity. */
  def ofDouble(value: Double): Long = {
    val bits = java.lang.Double.doubleToLongBits(value)
    if (bits < 0) bits ^ Long.MaxValue else bits
  }

  private def toDouble(code: Long): Double =
    java.lang.Double.longBitsToDouble(if (code < 0) code ^ Long.MaxValue else code)
}

/** Reads the code of a row's field. */
private[skew] final case class NumberOfRow(at: Int, dataType: DataType) {

  private[this] val code = NumberCode.of(dataType).getOrElse {
    throw new IllegalStateException(s"no code for ${dataType.sql}")
  }

  def of(row: UnsafeRow): Long = code.encode(row.get(at, dataType))
}

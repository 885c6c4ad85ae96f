package io.firesteel.changelog.aggregate.slots

import java.math.BigInteger

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.{ByteType, DataType, DecimalType, IntegerType, LongType, ShortType}

/** An exact sum of integers, or of decimals without their decimal point. */
abstract private[aggregate] class WholeSumSlot extends Slot {

  final override def hasInverse: Boolean = true

  /** Number of rows that are not null. */
  final def count(state: GroupState): Long = state.longs(longAt)

  /** The sum, of any size. */
  def sum(state: GroupState): BigInteger

  /** The low 64 bits of the sum, the result of a silent overflow. */
  def lowBits(state: GroupState): Long

  /** Whether the sum fits into 64 bits. */
  def fits(state: GroupState): Boolean

  /** The nearest double. */
  final def toDouble(state: GroupState): Double =
    if (fits(state)) lowBits(state).toDouble else sum(state).doubleValue
}

/**
 * A sum of 64-bit numbers in 128 bits: the number of rows, the low and the high half. It cannot
 * overflow, so a sum may exceed the result's range and return.
 */
final private[aggregate] class LongSumSlot(column: Int, dataType: DataType) extends WholeSumSlot {

  override val fields: Seq[(String, DataType)] =
    Seq("sum_count" -> LongType, "sum_low" -> LongType, "sum_high" -> LongType)

  override def add(state: GroupState, row: InternalRow, sign: Int): Unit =
    if (!row.isNullAt(column)) {
      val value = read(row)
      state.longs(longAt) += sign
      if (sign > 0) plus(state, value, value >> 63) else minus(state, value, value >> 63)
    }

  override def merge(state: GroupState, row: InternalRow, at: Int): Unit = {
    state.longs(longAt) += row.getLong(at)
    plus(state, row.getLong(at + 1), row.getLong(at + 2))
  }

  override def retract(state: GroupState, row: InternalRow, at: Int): Unit = {
    state.longs(longAt) -= row.getLong(at)
    minus(state, row.getLong(at + 1), row.getLong(at + 2))
  }

  override def write(state: GroupState, row: InternalRow, at: Int): Unit =
    (0 until 3).foreach(i => row.setLong(at + i, state.longs(longAt + i)))

  override def sum(state: GroupState): BigInteger =
    BigInteger.valueOf(state.longs(longAt + 2)).shiftLeft(64).add(
      new BigInteger(java.lang.Long.toUnsignedString(lowBits(state))))

  override def lowBits(state: GroupState): Long = state.longs(longAt + 1)

  override def fits(state: GroupState): Boolean = state.longs(longAt + 2) == (lowBits(state) >> 63)

  private def plus(state: GroupState, low: Long, high: Long): Unit = {
    val sum = lowBits(state) + low
    val carry = if (java.lang.Long.compareUnsigned(sum, low) < 0) 1 else 0
    state.longs(longAt + 1) = sum
    state.longs(longAt + 2) += high + carry
  }

  private def minus(state: GroupState, low: Long, high: Long): Unit = {
    val before = lowBits(state)
    val borrow = if (java.lang.Long.compareUnsigned(before, low) < 0) 1 else 0
    state.longs(longAt + 1) = before - low
    state.longs(longAt + 2) -= high + borrow
  }

  private def read(row: InternalRow): Long = dataType match {
    case LongType => row.getLong(column)
    case IntegerType => row.getInt(column).toLong
    case ShortType => row.getShort(column).toLong
    case ByteType => row.getByte(column).toLong
    case decimal: DecimalType =>
      row match {
        case stored: UnsafeRow => stored.getLong(column) // as up to 18 digits are stored
        case other => other.getDecimal(column, decimal.precision, decimal.scale).toUnscaledLong
      }
    case other => throw new IllegalStateException(s"no whole number: $other")
  }
}

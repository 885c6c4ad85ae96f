package io.firesteel.changelog.aggregate.slots

import java.math.BigInteger

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.{BinaryType, DataType, DecimalType, LongType}

/** A sum of decimals with more than 18 digits, of any size. */
final private[aggregate] class WideSumSlot(column: Int, decimal: DecimalType)
  extends WholeSumSlot {

  override val fields: Seq[(String, DataType)] =
    Seq("sum_count" -> LongType, "sum_exact" -> BinaryType)

  override def add(state: GroupState, row: InternalRow, sign: Int): Unit =
    if (!row.isNullAt(column)) {
      state.longs(longAt) += sign
      row match {
        case stored: UnsafeRow => totalOf(state).add(stored, column, sign)
        case other =>
          val value = other.getDecimal(column, decimal.precision, decimal.scale)
            .toJavaBigDecimal.unscaledValue
          totalOf(state).add(if (sign > 0) value else value.negate)
      }
    }

  override def merge(state: GroupState, row: InternalRow, at: Int): Unit = {
    state.longs(longAt) += row.getLong(at)
    totalOf(state).add(new BigInteger(row.getBinary(at + 1)))
  }

  override def retract(state: GroupState, row: InternalRow, at: Int): Unit = {
    state.longs(longAt) -= row.getLong(at)
    totalOf(state).add(new BigInteger(row.getBinary(at + 1)).negate)
  }

  override def write(state: GroupState, row: InternalRow, at: Int): Unit = {
    row.setLong(at, state.longs(longAt))
    row.update(at + 1, sum(state).toByteArray)
  }

  override def sum(state: GroupState): BigInteger = totalOf(state).value

  override def lowBits(state: GroupState): Long = sum(state).longValue

  override def fits(state: GroupState): Boolean = sum(state).bitLength < 64

  override def isZero(state: GroupState): Boolean =
    super.isZero(state) && sum(state).signum == 0

  private def totalOf(state: GroupState): WideTotal = {
    if (state.refs(refAt) == null) state.refs(refAt) = new WideTotal
    state.refs(refAt).asInstanceOf[WideTotal]
  }
}

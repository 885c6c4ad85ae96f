package io.firesteel.changelog.aggregate.slots

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{BinaryType, DataType, FloatType, LongType}

/**
 * A sum of floats with exact retraction: finite numbers are summed exactly; NaN and the infinities
 * are counted, so a retraction removes their effect.
 */
final private[aggregate] class FloatSumSlot(column: Int, dataType: DataType) extends Slot {

  import FloatSumSlot.{Negative, NotANumber, Positive, Rows}

  override val fields: Seq[(String, DataType)] = Seq(
    "sum_count" -> LongType,
    "sum_nan" -> LongType,
    "sum_positive_infinity" -> LongType,
    "sum_negative_infinity" -> LongType,
    "sum_exact" -> BinaryType)

  override def add(state: GroupState, row: InternalRow, sign: Int): Unit =
    if (!row.isNullAt(column)) {
      val value =
        if (dataType == FloatType) row.getFloat(column).toDouble else row.getDouble(column)
      state.longs(longAt + Rows) += sign
      if (value.isNaN) state.longs(longAt + NotANumber) += sign
      else if (value == Double.PositiveInfinity) state.longs(longAt + Positive) += sign
      else if (value == Double.NegativeInfinity) state.longs(longAt + Negative) += sign
      else state.refs(refAt) = exact(state).plus(if (sign > 0) value else -value)
    }

  override def merge(state: GroupState, row: InternalRow, at: Int): Unit = {
    var i = 0
    while (i < 4) {
      state.longs(longAt + i) += row.getLong(at + i)
      i += 1
    }
    state.refs(refAt) = exact(state).plus(ExactSum.of(row.getBinary(at + 4)))
  }

  override def hasInverse: Boolean = true

  override def retract(state: GroupState, row: InternalRow, at: Int): Unit = {
    var i = 0
    while (i < 4) {
      state.longs(longAt + i) -= row.getLong(at + i)
      i += 1
    }
    state.refs(refAt) = exact(state).plus(ExactSum.of(row.getBinary(at + 4)).negated)
  }

  override def write(state: GroupState, row: InternalRow, at: Int): Unit = {
    (0 until 4).foreach(i => row.setLong(at + i, state.longs(longAt + i)))
    row.update(at + 4, exact(state).toBytes)
  }

  def count(state: GroupState): Long = state.longs(longAt + Rows)

  def sum(state: GroupState): Double = {
    val (positive, negative) = (state.longs(longAt + Positive), state.longs(longAt + Negative))
    if (state.longs(longAt + NotANumber) > 0 || (positive > 0 && negative > 0)) Double.NaN
    else if (positive > 0) Double.PositiveInfinity
    else if (negative > 0) Double.NegativeInfinity
    else exact(state).toDouble
  }

  override def isZero(state: GroupState): Boolean =
    super.isZero(state) && exact(state).isZero

  private def exact(state: GroupState): ExactSum =
    Option(state.refs(refAt)).fold(ExactSum.zero)(_.asInstanceOf[ExactSum])
}

private object FloatSumSlot {
  private val Rows = 0
  private val NotANumber = 1
  private val Positive = 2
  private val Negative = 3
}

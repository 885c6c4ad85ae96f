package io.firesteel.changelog.aggregate

import io.firesteel.changelog.aggregate.slots.{CountSlot, ExtremeValue, FloatSumSlot, GroupState, MergedSlot, RetainedSlot, SetSlot, WholeSumSlot}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.EvalMode
import org.apache.spark.sql.catalyst.expressions.aggregate.{Average, DeclarativeAggregate, Sum}
import org.apache.spark.sql.catalyst.util.MathUtils
import org.apache.spark.sql.types.{DataType, Decimal, DecimalType, DoubleType}

/**
 * Fills the buffer of Spark's own aggregate function, so that Spark's expression computes the
 * result: types, rounding and ANSI errors are Spark's.
 */
sealed abstract private[aggregate] class AggregateResult extends Serializable {

  /** Number of columns of the function's buffer. */
  def width: Int

  /** Fills the columns from `at` on. */
  def fill(state: GroupState, buffer: InternalRow, at: Int): Unit
}

final private[aggregate] case class CountResult(slot: CountSlot) extends AggregateResult {
  override def width: Int = 1
  override def fill(state: GroupState, buffer: InternalRow, at: Int): Unit =
    buffer.setLong(at, slot.count(state))
}

final private[aggregate] case class ExtremeResult(slot: ExtremeValue) extends AggregateResult {
  override def width: Int = 1
  override def fill(state: GroupState, buffer: InternalRow, at: Int): Unit =
    buffer.update(at, slot.value(state))
}

/** The result of a function that keeps its own buffer, in place of that buffer. */
final private[aggregate] case class MergedResult(slot: MergedSlot) extends AggregateResult {
  override def width: Int = 1
  override def fill(state: GroupState, buffer: InternalRow, at: Int): Unit =
    buffer.update(at, slot.result(state))
}

/** The result of a function over a set of values, in place of its buffer. */
final private[aggregate] case class RetainedResult(slot: RetainedSlot, size: SetSlot)
  extends AggregateResult {
  override def width: Int = 1
  override def fill(state: GroupState, buffer: InternalRow, at: Int): Unit =
    buffer.update(at, slot.result(state, isEmpty = size.values(state) == 0L))
}

/**
 * @param second the buffer's column after the sum: the count of `avg`; or whether there was no row,
 *   by which Spark knows that a null sum is an overflow
 */
final private[aggregate] case class FloatSumResult(slot: FloatSumSlot, second: Option[BufferPart])
  extends AggregateResult {
  override def width: Int = 1 + second.size
  override def fill(state: GroupState, buffer: InternalRow, at: Int): Unit = {
    val count = slot.count(state)
    // Spark's avg starts at 0.0, its sum at null.
    if (count == 0 && !second.contains(BufferPart.Count)) buffer.setNullAt(at)
    else buffer.setDouble(at, slot.sum(state))
    second.foreach(_.fill(count, buffer, at + 1))
  }
}

/**
 * @param sumType type of the sum in the buffer
 * @param input type of the values
 * @param evalMode how an overflow of a 64-bit sum is handled
 */
final private[aggregate] case class WholeSumResult(
    slot: WholeSumSlot,
    input: DataType,
    sumType: DataType,
    evalMode: EvalMode.Value,
    second: Option[BufferPart])
  extends AggregateResult {

  override def width: Int = 1 + second.size

  override def fill(state: GroupState, buffer: InternalRow, at: Int): Unit = {
    val count = slot.count(state)
    if (count == 0 && !second.contains(BufferPart.Count)) buffer.setNullAt(at)
    else sumType match {
      case decimal: DecimalType => fillDecimal(state, buffer, at, decimal)
      case DoubleType => buffer.setDouble(at, slot.toDouble(state))
      case _ => fillLong(state, buffer, at)
    }
    second.foreach(_.fill(count, buffer, at + 1))
  }

  private def fillDecimal(
      state: GroupState,
      buffer: InternalRow,
      at: Int,
      to: DecimalType): Unit = {
    val scale = input.asInstanceOf[DecimalType].scale
    val value = new java.math.BigDecimal(slot.sum(state), scale)
    if (value.precision - value.scale > to.precision - to.scale) buffer.setNullAt(at)
    else buffer.update(at, Decimal(value, to.precision, to.scale))
  }

  private def fillLong(state: GroupState, buffer: InternalRow, at: Int): Unit =
    if (slot.fits(state) || evalMode == EvalMode.LEGACY) buffer.setLong(at, slot.lowBits(state))
    else if (evalMode == EvalMode.TRY) buffer.setNullAt(at)
    // Raises Spark's own overflow error.
    else buffer.setLong(at, MathUtils.addExact(Long.MaxValue, 1L))
}

sealed abstract private[aggregate] class BufferPart extends Product with Serializable {
  def fill(count: Long, buffer: InternalRow, at: Int): Unit
}

private[aggregate] object BufferPart {
  case object Count extends BufferPart {
    override def fill(count: Long, buffer: InternalRow, at: Int): Unit = buffer.setLong(at, count)
  }
  case object IsEmpty extends BufferPart {
    override def fill(count: Long, buffer: InternalRow, at: Int): Unit =
      buffer.setBoolean(at, count == 0)
  }

  /** The column of a function's buffer after its sum. */
  def of(function: DeclarativeAggregate): Option[BufferPart] = function match {
    case _: Average => Some(Count)
    case sum: Sum if sum.aggBufferAttributes.size == 2 => Some(IsEmpty)
    case _ => None
  }
}

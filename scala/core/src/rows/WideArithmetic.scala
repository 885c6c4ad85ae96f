package io.firesteel.core.rows

import java.math.{BigDecimal => JavaDecimal, BigInteger}

import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, Decimal, DecimalType, LongType, YearMonthIntervalType}

/**
 * Adds two numbers of one type, LONG or decimal, and wraps around at the ends of the type's range.
 */
private[core] final case class WrappingSum(left: Expression, right: Expression)
  extends BinaryExpression {

  override def nullIntolerant: Boolean = true
  override def dataType: DataType = left.dataType

  override protected def nullSafeEval(a: Any, b: Any): Any = (a, b) match {
    case (x: Decimal, y: Decimal) => WideArithmetic.wrapped(x, y)
    case (x, y) => x.asInstanceOf[Long] + y.asInstanceOf[Long]
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(
      ctx,
      ev,
      (a, b) =>
        if (dataType == LongType) s"$a + $b" else s"${WideArithmetic.in}.wrapped($a, $b)")

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): WrappingSum = copy(newLeft, newRight)
}

/** The overflow of [[WrappingSum]]: 1 upwards, -1 downwards, otherwise 0. */
private[core] final case class CarryOf(left: Expression, right: Expression)
  extends BinaryExpression {

  override def nullIntolerant: Boolean = true
  override def dataType: DataType = LongType

  override protected def nullSafeEval(a: Any, b: Any): Any = (a, b) match {
    case (x: Decimal, y: Decimal) => WideArithmetic.carry(x, y)
    case (x, y) => WideArithmetic.carry(x.asInstanceOf[Long], y.asInstanceOf[Long])
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(ctx, ev, (a, b) => s"${WideArithmetic.in}.carry($a, $b)")

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): CarryOf = copy(newLeft, newRight)
}

/** An interval as a number of its units. */
private[core] final case class UnitsOf(child: Expression) extends UnaryExpression {

  override def nullIntolerant: Boolean = true
  override def dataType: DataType = LongType

  override protected def nullSafeEval(units: Any): Any = units match {
    case months: Int => months.toLong
    case other => other
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(ctx, ev, units => s"(long) $units")

  override protected def withNewChildInternal(newChild: Expression): UnitsOf = copy(newChild)
}

/** A number of units as a value of its type; it is within the type's range. */
private[core] final case class OfUnits(child: Expression, override val dataType: DataType)
  extends UnaryExpression {

  override def nullIntolerant: Boolean = true

  override protected def nullSafeEval(units: Any): Any = dataType match {
    case _: YearMonthIntervalType => units.asInstanceOf[Long].toInt
    case _ => units
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(
      ctx,
      ev,
      units =>
        dataType match {
          case _: YearMonthIntervalType => s"(int) $units"
          case _ => units
        })

  override protected def withNewChildInternal(newChild: Expression): OfUnits =
    copy(child = newChild)
}

/** A wrapped decimal with its carries as one decimal; null if it has too many digits. */
private[core] final case class WholeDecimal(
    left: Expression,
    right: Expression,
    override val dataType: DecimalType)
  extends BinaryExpression {

  override def nullIntolerant: Boolean = true
  override def nullable: Boolean = true

  override protected def nullSafeEval(wrapped: Any, carries: Any): Any =
    WideArithmetic.whole(wrapped.asInstanceOf[Decimal], carries.asInstanceOf[Long])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    nullSafeCodeGen(
      ctx,
      ev,
      (wrapped, carries) => s"""
        ${ev.value} = ${WideArithmetic.in}.whole($wrapped, $carries);
        ${ev.isNull} = ${ev.value} == null;
      """
    )

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): WholeDecimal = copy(left = newLeft, right = newRight)
}

/** Functions for generated code. A decimal wraps around at 10^38 by 10^38, so its sign stays. */
private[firesteel] object WideArithmetic {

  private[core] val in: String = getClass.getName.stripSuffix("$")

  private val range: BigInteger = BigInteger.TEN.pow(DecimalType.MAX_PRECISION)

  def carry(a: Long, b: Long): Long = {
    val sum = a + b
    if (((a ^ sum) & (b ^ sum)) >= 0L) 0L else if (b < 0L) -1L else 1L
  }

  // Few sums come near the end of the range: check that before adding again.
  def carry(a: Decimal, b: Decimal): Long = {
    val (x, y) = (a.toJavaBigDecimal, b.toJavaBigDecimal)
    if (math.max(x.precision, y.precision) < DecimalType.MAX_PRECISION) 0L
    else carryOf(x.add(y)).toLong
  }

  def wrapped(a: Decimal, b: Decimal): Decimal = {
    val whole = a.toJavaBigDecimal.add(b.toJavaBigDecimal)
    val carry = carryOf(whole)
    if (carry == 0) Decimal(whole) else shifted(whole, -carry)
  }

  def whole(wrapped: Decimal, carries: Long): Decimal =
    if (carries == 0L) wrapped
    else if (carries != 1L && carries != -1L) null
    else {
      val whole = shifted(wrapped.toJavaBigDecimal, carries.toInt)
      if (carryOf(whole.toJavaBigDecimal) == 0) whole else null
    }

  private def carryOf(sum: JavaDecimal): Int =
    if (sum.precision <= DecimalType.MAX_PRECISION) 0 else sum.signum

  private def shifted(number: JavaDecimal, ranges: Int): Decimal = {
    val unscaled = number.unscaledValue.add(range.multiply(BigInteger.valueOf(ranges.toLong)))
    Decimal(new JavaDecimal(unscaled, number.scale))
  }
}

package io.firesteel.core.rows

import org.apache.spark.sql.catalyst.expressions.{And, AttributeReference, Cast, Coalesce, EqualTo, EvalMode, Expression, GreaterThanOrEqual, If, IsNull, LessThanOrEqual, Literal}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction, Average, DeclarativeAggregate, Sum}
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.firesteel.{add, evalModeOf}
import org.apache.spark.sql.types.{DataType, DayTimeIntervalType, DecimalType, LongType, YearMonthIntervalType}

/**
 * Spark's `sum` or `avg` with a sum that may leave the range of its type and return.
 *
 * Spark's own sum may overflow on the way, depending on the order of rows. An operator that adds in
 * another order than Spark's plan would then fail although Spark succeeds. This sum checks the
 * range only at the end: it succeeds whenever Spark does, and fails only if every order fails.
 *
 * State: the sum modulo 2^64 (decimals: within 38 digits), null without values; the number of
 * overflows upwards less those downwards; and for an average the count. The carries fit a LONG for
 * any number of rows.
 *
 * @param function Spark's function, which evaluates the sum
 */
private[firesteel] final case class WideSum(function: DeclarativeAggregate)
  extends DeclarativeAggregate {
  import WideSum._

  private val ofSpark: Seq[AttributeReference] = function.aggBufferAttributes
  private val sumType: DataType = ofSpark.head.dataType
  private val storedType: DataType = sumType match {
    case decimal: DecimalType => decimal
    case _ => LongType
  }
  private val isAverage = function.isInstanceOf[Average]

  private lazy val sum = AttributeReference("sum", storedType)()
  private lazy val carries = AttributeReference("carries", LongType, nullable = false)()
  private lazy val count = AttributeReference("count", LongType, nullable = false)()

  override lazy val aggBufferAttributes: Seq[AttributeReference] =
    Seq(sum, carries) ++ Option.when(isAverage)(count)

  override lazy val initialValues: Seq[Expression] =
    Seq(Literal.create(null, storedType), zero) ++ Option.when(isAverage)(zero)

  override lazy val updateExpressions: Seq[Expression] = {
    val value = storedType match {
      case _ if argument.dataType == storedType => argument
      case decimal: DecimalType => Cast(argument, decimal)
      case _ => UnitsOf(argument)
    }
    plus(sum, value, carries) ++
      Option.when(isAverage)(If(IsNull(argument), count, next(count, Literal(1L))))
  }

  override lazy val mergeExpressions: Seq[Expression] =
    plus(sum.left, sum.right, next(carries.left, carries.right)) ++
      Option.when(isAverage)(next(count.left, count.right))

  /** Spark's evaluation, over a sum that is null, or raises an error, if it does not fit. */
  override lazy val evaluateExpression: Expression = function.evaluateExpression.transform {
    case column: AttributeReference if column.exprId == ofSpark.head.exprId => bounded
    case column: AttributeReference if ofSpark.tail.exists(_.exprId == column.exprId) =>
      // Spark's sum has a column that shows whether there was a value.
      if (isAverage) count else IsNull(sum)
  }

  private def argument: Expression = function.children.head

  /** The sum and the carries after one more value. */
  private def plus(sum: Expression, value: Expression, carries: Expression): Seq[Expression] = {
    val before = Coalesce(Seq(sum, Literal.default(storedType)))
    val added = WrappingSum(before, value)
    val carry = CarryOf(before, value)
    if (value.nullable)
      Seq(Coalesce(Seq(added, sum)), next(carries, Coalesce(Seq(carry, zero))))
    else Seq(added, next(carries, carry))
  }

  private def bounded: Expression = sumType match {
    case decimal: DecimalType => WholeDecimal(sum, carries, decimal)
    case _ => If(IsNull(sum), nothing, If(fits, OfUnits(sum, sumType), overflow))
  }

  private def fits: Expression = {
    val noCarry = EqualTo(carries, zero)
    sumType match {
      case _: YearMonthIntervalType =>
        And(
          noCarry,
          And(
            GreaterThanOrEqual(sum, Literal(Int.MinValue.toLong)),
            LessThanOrEqual(sum, Literal(Int.MaxValue.toLong))))
      case _ => noCarry
    }
  }

  /** The error of Spark's own addition, with its place in the query. */
  private def overflow: Expression =
    if (modeOf(function) == EvalMode.TRY) nothing
    else CurrentOrigin.withOrigin(function.origin) {
      val (most, one) = sumType match {
        case _: YearMonthIntervalType => (Int.MaxValue, 1)
        case _ => (Long.MaxValue, 1L)
      }
      add(Literal(most, sumType), Literal(one, sumType), EvalMode.ANSI)
    }

  private def nothing: Expression = Literal.create(null, sumType)

  override def children: Seq[Expression] = function.children
  override def dataType: DataType = function.dataType
  override def nullable: Boolean = function.nullable
  override def prettyName: String = function.prettyName
  override protected def stringArgs: Iterator[Any] = children.iterator
  override def sql(isDistinct: Boolean): String = function.sql(isDistinct)
  override def toAggString(isDistinct: Boolean): String = function.toAggString(isDistinct)

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): WideSum =
    copy(function = function.withNewChildren(newChildren).asInstanceOf[DeclarativeAggregate])
}

private[firesteel] object WideSum {

  private val zero: Literal = Literal(0L)

  /** The call with a wide sum, if Spark's sum may overflow on the way. */
  def of(call: AggregateExpression): AggregateExpression =
    call.aggregateFunction match {
      case function: DeclarativeAggregate if mayOverflow(function) =>
        call.copy(aggregateFunction = WideSum(function))
      case _ => call
    }

  /**
   * Whether a sum may overflow on the way and not at the end. For INT and for decimals of up to 28
   * digits that would take billions of rows; without ANSI a BIGINT wraps around in any order.
   */
  def mayOverflow(function: AggregateFunction): Boolean = function match {
    case sum: Sum =>
      sum.child.dataType match {
        case LongType => evalModeOf(sum) != EvalMode.LEGACY
        case other => isNarrow(other)
      }
    case average: Average => isNarrow(average.child.dataType)
    case _ => false
  }

  private def isNarrow(dataType: DataType): Boolean = dataType match {
    case decimal: DecimalType => decimal.precision + spareDigits > DecimalType.MAX_PRECISION
    case _: DayTimeIntervalType | _: YearMonthIntervalType => true
    case _ => false
  }

  /** Additional digits of Spark's decimal sum. */
  private val spareDigits = 10

  private def modeOf(function: DeclarativeAggregate): EvalMode.Value = function match {
    case sum: Sum => evalModeOf(sum)
    case average: Average => average.evalMode
    case other => throw new IllegalStateException(s"neither sum nor average: $other")
  }

  private def next(before: Expression, more: Expression): Expression =
    add(before, more, EvalMode.LEGACY)
}

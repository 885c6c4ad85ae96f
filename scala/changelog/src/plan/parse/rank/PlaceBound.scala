package io.firesteel.changelog.plan.parse.rank

import io.firesteel.changelog.sql.{Clock, RowKindFunction}

import java.math.{BigDecimal, RoundingMode}

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, BinaryComparison, Cast, EqualNullSafe, EqualTo, Expression, GreaterThan, GreaterThanOrEqual, In, LessThan, LessThanOrEqual, Or}
import org.apache.spark.sql.types.{Decimal, NumericType}

/**
 * The places for which a condition is true, counted from 1.
 *
 * @param to the last place; none if there is no last one
 * @param isExact whether the condition is true for all places of the range and has no other part
 */
final private[changelog] case class PlaceBound(from: Long, to: Option[Long], isExact: Boolean) {

  private def isEmpty: Boolean = to.exists(_ < from)

  def and(other: PlaceBound): PlaceBound = PlaceBound(
    from.max(other.from),
    (to ++ other.to).minOption,
    isExact && other.isExact)

  /** The smallest range with both. */
  private def or(other: PlaceBound): PlaceBound =
    if (isEmpty) other.copy(isExact = isExact && other.isExact)
    else if (other.isEmpty) copy(isExact = isExact && other.isExact)
    else {
      val (first, second) = if (from <= other.from) (this, other) else (other, this)
      val isGapless = first.to.forall(_ >= second.from - 1)
      PlaceBound(
        first.from,
        for (a <- to; b <- other.to) yield a.max(b),
        isExact && other.isExact && isGapless)
    }
}

private[changelog] object PlaceBound {

  /** No bound. */
  val all: PlaceBound = PlaceBound(1L, None, isExact = true)

  private val none = PlaceBound(1L, Some(0L), isExact = true)

  /**
   * The places for which a condition is true; none if it does not compare the place with constants.
   */
  def of(condition: Expression, place: Attribute): Option[PlaceBound] = condition match {
    case and: And =>
      (of(and.left, place), of(and.right, place)) match {
        case (Some(left), Some(right)) => Some(left and right)
        case (left, right) => (left ++ right).headOption.map(_.copy(isExact = false))
      }
    case or: Or =>
      for (left <- of(or.left, place); right <- of(or.right, place)) yield left or right
    case in: In if isPlace(in.value, place) =>
      val equal = in.list.map(value => if (isNull(value)) Some(none) else number(value).map(point))
      if (equal.exists(_.isEmpty)) None
      else Some(equal.flatten.sortBy(_.from).foldLeft(none)(_ or _))
    case comparison: BinaryComparison =>
      val (left, right) = (comparison.left, comparison.right)
      if (isPlace(left, place)) number(right).flatMap(n => compared(comparison, n))
      else if (isPlace(right, place)) number(left).flatMap(n => flipped(comparison, n))
      else None
    case _ => None
  }

  private def compared(comparison: BinaryComparison, n: BigDecimal): Option[PlaceBound] =
    comparison match {
      case _: EqualTo | _: EqualNullSafe => Some(point(n))
      case _: LessThanOrEqual => Some(most(floor(n)))
      case _: GreaterThanOrEqual => Some(least(ceil(n)))
      case _: LessThan => Some(most(ceil(n) - 1))
      case _: GreaterThan => Some(least(floor(n) + 1))
      case _ => None
    }

  private def flipped(comparison: BinaryComparison, n: BigDecimal): Option[PlaceBound] =
    comparison match {
      case _: EqualTo | _: EqualNullSafe => Some(point(n))
      case _: LessThanOrEqual => Some(least(ceil(n)))
      case _: GreaterThanOrEqual => Some(most(floor(n)))
      case _: LessThan => Some(least(floor(n) + 1))
      case _: GreaterThan => Some(most(ceil(n) - 1))
      case _ => None
    }

  private def most(n: Long) = PlaceBound(1L, Some(n), isExact = true)
  private def least(n: Long) = PlaceBound(n.max(1L), None, isExact = true)
  private def point(n: BigDecimal) =
    if (floor(n) == ceil(n)) PlaceBound(floor(n).max(1L), Some(floor(n)), isExact = true) else none

  private def floor(n: BigDecimal): Long = n.setScale(0, RoundingMode.FLOOR).longValueExact
  private def ceil(n: BigDecimal): Long = n.setScale(0, RoundingMode.CEILING).longValueExact

  private def isPlace(e: Expression, place: Attribute): Boolean = e match {
    case a: Attribute => a.exprId == place.exprId
    case cast: Cast =>
      isNumber(cast) && Cast.canUpCast(cast.child.dataType, cast.dataType) &&
      isPlace(cast.child, place)
    case _ => false
  }

  /** A place as a time is a number of seconds, and the constant beside it one of microseconds. */
  private def isNumber(value: Expression): Boolean = value.dataType match {
    case _: NumericType => true
    case _ => false
  }

  private def isConstant(e: Expression): Boolean =
    e.foldable && !RowKindFunction.isIn(e) && !Clock.isIn(e)

  private def isNull(e: Expression): Boolean = isConstant(e) && e.eval() == null

  /**
   * A constant. It must be small enough for every numeric type to distinguish neighbouring places.
   */
  private def number(e: Expression): Option[BigDecimal] =
    if (!isConstant(e)) None
    else (e.eval() match {
      case n @ (_: Byte | _: Short | _: Int | _: Long) =>
        Some(BigDecimal.valueOf(n.asInstanceOf[Number].longValue))
      case n: Decimal => Some(n.toJavaBigDecimal)
      case n: Double if java.lang.Double.isFinite(n) => Some(new BigDecimal(n))
      case n: Float if math.abs(n) < exactFloats => Some(new BigDecimal(n.toDouble))
      case _ => None
    }).filter(_.abs.compareTo(limit) < 0)

  private val exactFloats = (1 << 23).toFloat

  private val limit = BigDecimal.valueOf(Int.MaxValue.toLong * 4)
}

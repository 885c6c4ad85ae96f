package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.plan.frames.OverReach

import org.apache.spark.sql.catalyst.expressions.{CurrentRow, Expression, Literal, SortOrder, SpecifiedWindowFrame, UnboundedFollowing, UnboundedPreceding}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{CalendarIntervalType, DateType, DayTimeIntervalType, TimestampType, YearMonthIntervalType}
import org.apache.spark.unsafe.types.CalendarInterval

/**
 * How far a `RANGE` frame reaches before and after a row.
 *
 * Months, and days where clocks change, are not all of one length, so the end of a frame may lie
 * before that of an earlier row. Spark's frames never go back: what an earlier row has left out or
 * taken in stays so. Such a frame therefore depends on the rows before it, as far as lengths may
 * differ, and is taken to be as long as it can be.
 */
private[parse] object RangeReach {

  def apply(frame: SpecifiedWindowFrame, order: Seq[SortOrder]): (OverReach, OverReach) = {
    val lengths = Seq(frame.lower, frame.upper).flatMap(lengthOf(_, order))
    val differ = lengths.map(its => its.most - its.least).maxOption.getOrElse(0L)
    val back = reach(frame.lower, order, _.least)
    val before =
      if (differ == 0L) back else back | OverReach(values = Seq(end(order, -differ)), peers = true)
    (before | passed(frame.upper, order), reach(frame.upper, order, _.most))
  }

  /**
   * A row whose own end is no value of the type has in its frame what an earlier row has taken in.
   */
  private def passed(upper: Expression, order: Seq[SortOrder]): OverReach = upper match {
    case CurrentRow | UnboundedPreceding | UnboundedFollowing => OverReach()
    case offset if lengthOf(offset, order).isEmpty =>
      OverReach(values = Seq(RangeBound(order.head, offset)))
    case _ => OverReach()
  }

  private def reach(
      bound: Expression,
      order: Seq[SortOrder],
      furthest: Length => Long): OverReach = bound match {
    case UnboundedPreceding | UnboundedFollowing => OverReach(isWhole = true)
    case CurrentRow => OverReach(peers = true)
    // Equal rows have equal frames.
    case offset => lengthOf(offset, order) match {
        case Some(length) => OverReach(values = Seq(end(order, furthest(length))), peers = true)
        case None => OverReach(values = Seq(RangeBound(order.head, offset)), peers = true)
      }
  }

  private def end(order: Seq[SortOrder], micros: Long): Expression = {
    val by = order.head.dataType match {
      case DateType => Literal(Math.floorDiv(micros, MICROS_PER_DAY).toInt)
      case _ => Literal(new CalendarInterval(0, 0, micros), CalendarIntervalType)
    }
    RangeBound(order.head, by)
  }

  /** The microseconds that an offset has, at least and at most. */
  final private case class Length(least: Long, most: Long)

  /** The length of an offset that does not have the same length everywhere. */
  private def lengthOf(bound: Expression, order: Seq[SortOrder]): Option[Length] = {
    val length = (bound, bound.dataType) match {
      case (CurrentRow | UnboundedPreceding | UnboundedFollowing, _) => None
      case (offset, _: DayTimeIntervalType) =>
        val micros = offset.eval().asInstanceOf[Long]
        Some(ofDays(micros, math.abs(micros) >= MICROS_PER_DAY, order))
      case (offset, _: YearMonthIntervalType) if !isMonths(order) =>
        Some(ofMonths(offset.eval().asInstanceOf[Int], 0L, order))
      case (offset, CalendarIntervalType) =>
        val its = offset.eval().asInstanceOf[CalendarInterval]
        val micros = its.days * MICROS_PER_DAY + its.microseconds
        Some(
          if (its.months != 0) ofMonths(its.months, micros, order)
          else ofDays(micros, its.days != 0, order))
      case _ => None
    }
    length.filter(its => its.least != its.most)
  }

  /** Intervals of months are whole numbers. */
  private def isMonths(order: Seq[SortOrder]): Boolean =
    order.head.dataType.isInstanceOf[YearMonthIntervalType]

  private def ofDays(micros: Long, hasDays: Boolean, order: Seq[SortOrder]): Length = {
    val slack = if (hasDays) slackOf(order) else 0L
    Length(micros - slack, micros + slack)
  }

  private def ofMonths(months: Int, micros: Long, order: Seq[SortOrder]): Length = {
    val (short, long) = (months * 28L * MICROS_PER_DAY, months * 31L * MICROS_PER_DAY)
    val slack = slackOf(order)
    Length(micros + math.min(short, long) - slack, micros + math.max(short, long) + slack)
  }

  private def slackOf(order: Seq[SortOrder]): Long = order.head.dataType match {
    case TimestampType => ZoneSlack.micros(SQLConf.get.sessionLocalTimeZone)
    case _ => 0L
  }
}

package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.plan.{ChangelogOperator, EventTime, TimeBound}
import io.firesteel.changelog.plan.parse.rank.BetweenParts

import java.time.ZoneId
import java.util.concurrent.TimeUnit.{DAYS, MICROSECONDS, SECONDS}

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{Attribute, BinaryExpression, Cast, EqualTo, ExprId, Expression, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual, RuntimeReplaceable, SubtractTimestamps, TimeZoneAwareExpression}
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types.{DayTimeIntervalType, StructType}
import org.apache.spark.unsafe.types.CalendarInterval

/**
 * The bounds that the condition of a join sets between the event times of its sides (Flink: interval
 * join). `r.ts BETWEEN l.ts AND l.ts + INTERVAL 1 HOUR` says that the last right row of a left row
 * has a time one hour after it, and the last left row of a right row has the right row's time.
 *
 * Read are comparisons of two columns of event time, of such a column and a constant interval, or of
 * the difference of two columns, and the equality of two columns of windows.
 */
private[parse] object TimeBounds {

  /**
   * The bounds of the left and of the right side, if the condition sets one.
   *
   * @param conditions all that must hold of both rows
   * @param toMillis whether times that a watermark closes in one millisecond are a pair, as
   *   `window_time` and the time of a source
   * @param ofChanges whether rows of sides that change leave, too. None changes any more when the
   *   watermark has closed its time, and until then it is in state for its own deletion.
   * @param seesMoves whether it is known which times an update may move
   */
  def apply(
      conditions: Seq[Expression],
      left: ChangelogOperator,
      right: ChangelogOperator,
      toMillis: Boolean,
      ofChanges: Boolean,
      seesMoves: Boolean): Option[(TimeBound, TimeBound)] = {
    val (ofLeft, ofRight) = (left.facts.eventTimes, right.facts.eventTimes)
    // One watermark closes both columns.
    def isPair(l: Attribute, r: Attribute) =
      ofLeft.contains(l.exprId) && ofRight.contains(r.exprId) && l.dataType == r.dataType &&
        isAlike(ofLeft(l.exprId).after, ofRight(r.exprId).after)
    def isAlike(a: Long, b: Long) = a == b || toMillis && a / 1000L == b / 1000L
    val all = conditions.flatMap(atMost(_))
    val pairs = all.flatMap {
      case AtMost(r, l, micros) if isPair(l, r) => Some((l, r) -> (Some(micros), None))
      case AtMost(l, r, micros) if isPair(l, r) => Some((l, r) -> (None, Some(micros)))
      case _ => None
    }
    val bounds =
      pairs.groupBy { case ((l, r), _) => (l.exprId, r.exprId) }.values.toSeq.map { its =>
        val ((l, r), reaches) = (its.head._1, its.map(_._2))
        val after = ofLeft(l.exprId).after.max(ofRight(r.exprId).after)
        // All conditions hold, so the least bound does.
        (
          TimeBound(l, reaches.flatMap(_._1).minOption, after, sizeOf(l, ofLeft)),
          TimeBound(r, reaches.flatMap(_._2).minOption, after, sizeOf(r, ofRight)))
      }
    val insertOnly = left.facts.changes.insertOnly && right.facts.changes.insertOnly
    def outlast(its: TimeBound) = its.reach.forall(_ >= 0L)
    // An update of a key may move a time that is no part of it, at any time.
    def isFixed(side: ChangelogOperator, its: TimeBound) =
      !(seesMoves && side.facts.eventTimes(its.time.exprId).moves) &&
        side.facts.upsertKeys.forall(_.contains(its.time.exprId))
    def leaves(side: ChangelogOperator, its: TimeBound) =
      outlast(its) && (side.facts.changes.insertOnly || isFixed(side, its))
    bounds.filter { case (l, r) => insertOnly || ofChanges && leaves(left, l) && leaves(right, r) }
      .sortBy { case (l, r) => place(l, r) }.headOption
  }

  /** A pair that bounds both sides comes first. Names decide then, the same at every start. */
  private def place(l: TimeBound, r: TimeBound): (Int, String, String) =
    (-Seq(l, r).count(_.reach.nonEmpty), l.time.name, r.time.name)

  /** The time `a` is at most so many microseconds after the time `b`. */
  private case class AtMost(a: Attribute, b: Attribute, micros: Long)

  private def atMost(condition: Expression): Seq[AtMost] = condition match {
    case LessThan(a, b) => atMost(a, b).map(its => its.copy(micros = its.micros - 1))
    case LessThanOrEqual(a, b) => atMost(a, b)
    case GreaterThan(a, b) => atMost(LessThan(b, a))
    case GreaterThanOrEqual(a, b) => atMost(b, a)
    case BetweenParts(value, least, most) => atMost(least, value) ++ atMost(value, most)
    case EqualTo(a: Attribute, b: Attribute) if isWindow(a) && isWindow(b) =>
      Seq(AtMost(a, b, 0L), AtMost(b, a, 0L))
    case EqualTo(a, b) => atMost(a, b) ++ atMost(b, a)
    case _ => Nil
  }

  private def sizeOf(column: Attribute, times: Map[ExprId, EventTime]): Option[Long] =
    times.get(column.exprId).filter(_ => isWindow(column)).flatMap(_.size)

  private def isWindow(column: Attribute) = column.dataType.isInstanceOf[StructType]

  /** What `a <= b` says. */
  private def atMost(a: Expression, b: Expression): Seq[AtMost] =
    (Terms.of(a), Terms.of(b)) match {
      case (Some(x), Some(y)) => (x.plus ++ y.minus, x.minus ++ y.plus) match {
          case (Seq(plus), Seq(minus)) =>
            Seq(AtMost(plus, minus, y.micros - x.micros + x.slack + y.slack))
          case _ => Nil
        }
      case _ => Nil
    }

  /**
   * A sum of columns and a constant.
   *
   * @param slack by how much the constant may be wrong: when clocks go forward, a day has 23 hours
   */
  private case class Terms(
      plus: Seq[Attribute] = Nil,
      minus: Seq[Attribute] = Nil,
      micros: Long = 0L,
      slack: Long = 0L) {
    def +(other: Terms): Terms =
      Terms(plus ++ other.plus, minus ++ other.minus, micros + other.micros, slack + other.slack)
    def negated: Terms = Terms(minus, plus, -micros, slack)
  }

  private object Terms {

    def of(value: Expression): Option[Terms] = replaced(value) match {
      case column: Attribute if !isWindow(column) => Some(Terms(plus = Seq(column)))
      case difference: SubtractTimestamps =>
        for (a <- of(difference.left); b <- of(difference.right))
          yield a + b.negated + Terms(slack = slackOf(difference))
      // The same class by its names in different versions of Spark.
      case sum: BinaryExpression if Seq("TimeAdd", "TimestampAddInterval").contains(sum.nodeName) =>
        for (time <- of(sum.left); interval <- intervalOf(sum.right))
          yield time + Terms(micros = interval._1, slack = if (interval._2) slackOf(sum) else 0L)
      case constant => intervalOf(constant).map(its => Terms(micros = its._1))
    }
  }

  /** Without what changes nothing. */
  private def replaced(value: Expression): Expression = value match {
    case written: RuntimeReplaceable => replaced(written.replacement)
    case cast: Cast if cast.child.dataType == cast.dataType => replaced(cast.child)
    case other => other
  }

  /** The microseconds of a constant interval, and whether it has days. */
  private def intervalOf(value: Expression): Option[(Long, Boolean)] =
    if (!value.foldable) None
    else Try(value.eval()).toOption.collect {
      case micros: Long if value.dataType.isInstanceOf[DayTimeIntervalType] =>
        (micros, micros.abs >= day)
      case its: CalendarInterval if its.months == 0 =>
        (its.days * day + its.microseconds, its.days != 0)
    }

  private val day: Long = MICROSECONDS.convert(1, DAYS)

  private def slackOf(sum: BinaryExpression): Long = sum match {
    case zoned: TimeZoneAwareExpression =>
      ZoneSlack.micros(zoned.zoneIdForType(sum.left.dataType))
    case _ => 0L
  }
}

/**
 * By how much arithmetic with days may differ from 24 hours for each: Spark goes by the clocks of the
 * time zone. It is the difference of the zone's offsets that are farthest apart.
 */
private[parse] object ZoneSlack {

  def micros(zone: String): Long = micros(DateTimeUtils.getZoneId(zone))

  def micros(zone: ZoneId): Long = {
    val rules = zone.getRules
    val once = rules.getTransitions.asScala.flatMap(t => Seq(t.getOffsetBefore, t.getOffsetAfter))
    val yearly =
      rules.getTransitionRules.asScala.flatMap(t => Seq(t.getOffsetBefore, t.getOffsetAfter))
    val seconds = (once ++ yearly).map(_.getTotalSeconds)
    if (seconds.isEmpty) 0L else MICROSECONDS.convert(seconds.max - seconds.min, SECONDS)
  }
}

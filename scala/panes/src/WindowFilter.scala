package io.firesteel.panes

import io.firesteel.core.windows.PaneGrid
import org.apache.spark.sql.catalyst.expressions.{And, Attribute, BinaryComparison, EqualTo, Expression, GetStructField, GreaterThan, GreaterThanOrEqual, In, InSet, IsNotNull, LessThan, LessThanOrEqual, Literal, Or}

/**
 * Turns conditions on `window.start` and `window.end` into a condition on the time of rows. It
 * drops rows that no requested window contains. All rows of requested windows stay, so these are
 * complete.
 */
private[panes] object WindowFilter {

  /** The starts of requested windows: `from` and `to` are both included. */
  private final case class Starts(from: Long, to: Long) {
    def and(other: Starts): Starts = Starts(math.max(from, other.from), math.min(to, other.to))
    def or(other: Starts): Starts = Starts(math.min(from, other.from), math.max(to, other.to))
  }

  // Beyond this bound, sums may overflow a LONG, and hardly any row could be dropped.
  private val never = Long.MaxValue / 4
  private val always = Starts(-never, never)

  /** A condition on `time` that all rows of requested windows satisfy, if there is one. */
  def ofTime(
      conditions: Seq[Expression],
      window: Attribute,
      grid: PaneGrid,
      time: Expression): Option[Expression] = {
    val wanted = conditions.flatMap(hull(_, window, grid)).foldLeft(always)(_ and _)
    def at(micros: Long) = Literal(micros, time.dataType)
    val (first, last) = (
      grid.startOf(-Math.floorDiv(grid.start - wanted.from, grid.slide)),
      grid.startOf(Math.floorDiv(wanted.to - grid.start, grid.slide)))
    val isBounded = wanted.from > -never && wanted.to < never
    val lower = if (wanted.from > -never) Some(GreaterThanOrEqual(time, at(first))) else None
    val upper = if (wanted.to < never) Some(LessThan(time, at(last + grid.size))) else None
    if (isBounded && first > last) Some(Literal.FalseLiteral) // between two windows
    else (lower ++ upper).reduceOption(And)
  }

  /** Whether `ofTime` covers a condition completely. Bounds are never null. */
  def isRange(condition: Expression, window: Attribute, grid: PaneGrid): Boolean = condition match {
    case IsNotNull(field: GetStructField) => field.child == window
    case other => starts(other, window, grid).nonEmpty
  }

  /** The least range with all windows of a condition; it may have others. */
  private def hull(condition: Expression, window: Attribute, grid: PaneGrid): Option[Starts] = {
    def of(value: Expression, constants: Iterable[Literal]): Option[Starts] = {
      val found = constants.filter(_.value != null).map(start(value, _, window, grid))
      if (found.isEmpty || found.exists(_.isEmpty)) None
      else Some(found.flatten.map(at => Starts(at, at)).reduce(_ or _))
    }
    condition match {
      case or: Or =>
        for (l <- hull(or.left, window, grid); r <- hull(or.right, window, grid)) yield l or r
      case and: And =>
        (hull(and.left, window, grid) ++ hull(and.right, window, grid)).reduceOption(_ and _)
      case in: In if in.list.forall(_.isInstanceOf[Literal]) =>
        of(in.value, in.list.map(_.asInstanceOf[Literal]))
      case in: InSet => of(in.child, in.hset.map(Literal(_, in.child.dataType)))
      case other => starts(other, window, grid)
    }
  }

  /** The start of the window whose start or end is a constant. */
  private def start(
      side: Expression,
      value: Expression,
      window: Attribute,
      grid: PaneGrid): Option[Long] = (side, value) match {
    case (field: GetStructField, literal: Literal)
        if field.child == window && literal.value != null &&
          literal.dataType == field.dataType =>
      val micros = literal.value.asInstanceOf[Long]
      if (micros.abs >= never) None
      else Some(if (field.ordinal == 0) micros else micros - grid.size)
    case _ => None
  }

  private def starts(
      condition: Expression,
      window: Attribute,
      grid: PaneGrid): Option[Starts] = {
    def constant(side: Expression, value: Expression) = start(side, value, window, grid)
    def compared(comparison: BinaryComparison)(
        forward: Long => Starts,
        backward: Long => Starts): Option[Starts] =
      constant(comparison.left, comparison.right)
        .map(forward)
        .orElse(constant(comparison.right, comparison.left).map(backward))
    val from: Long => Starts = Starts(_, never)
    val to: Long => Starts = Starts(-never, _)
    condition match {
      case c: GreaterThanOrEqual => compared(c)(from, to)
      case c: GreaterThan => compared(c)(s => from(s + 1), s => to(s - 1))
      case c: LessThanOrEqual => compared(c)(to, from)
      case c: LessThan => compared(c)(s => to(s - 1), s => from(s + 1))
      case c: EqualTo => compared(c)(s => Starts(s, s), s => Starts(s, s))
      case _ => None
    }
  }
}

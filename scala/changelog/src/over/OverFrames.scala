package io.firesteel.changelog.over

import io.firesteel.changelog.plan.frames.OverReach
import org.apache.spark.sql.catalyst.expressions.{Expression, NullsFirst, SortOrder, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.codegen.LazilyGeneratedOrdering
import org.apache.spark.sql.catalyst.util.TypeUtils

/** Whether the frame of a row reaches another row. One per task. */
final private[over] class OverFrames(order: Seq[SortOrder], back: OverReach, ahead: OverReach) {

  private[this] val ordering = new LazilyGeneratedOrdering(order)

  /**
   * Whether the frame of a row reaches a row before it.
   *
   * @param between number of rows between the two
   */
  def reachBack(row: UnsafeRow, to: UnsafeRow, between: Long): Boolean =
    back.isWhole || between < back.rows || (back.peers && ordering.compare(row, to) == 0) ||
      back.values.exists(reaches(row, to, _)(_ >= 0))

  /** Whether the frame of a row reaches a row after it. */
  def reachAhead(row: UnsafeRow, to: UnsafeRow, between: Long): Boolean =
    ahead.isWhole || between < ahead.rows || (ahead.peers && ordering.compare(row, to) == 0) ||
      ahead.values.exists(reaches(row, to, _)(_ <= 0))

  /** The end of a frame may be no value of the type. Then the frame is taken to reach all rows. */
  private def reaches(row: UnsafeRow, to: UnsafeRow, bound: Expression)(is: Int => Boolean) = {
    val end = bound.eval(row)
    (end == null && value(row) != null) || is(compare(to, end))
  }

  private def value(row: UnsafeRow): Any = (order.head.child: Expression).eval(row)

  private[this] lazy val values = TypeUtils.getInterpretedOrdering(order.head.dataType)

  /** Compares the order of a row with a value, as Spark compares it with the end of a frame. */
  private def compare(row: UnsafeRow, bound: Any): Int = {
    val its = value(row)
    if (its == null || bound == null) {
      val nulls = if (order.head.nullOrdering == NullsFirst) -1 else 1
      if (its == null && bound == null) 0 else if (its == null) nulls else -nulls
    } else {
      val compared = values.compare(its, bound)
      if (order.head.isAscending) compared else -compared
    }
  }
}

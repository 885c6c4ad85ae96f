package io.firesteel.panes

import io.firesteel.core.decide.Decline
import org.apache.spark.sql.catalyst.expressions.{Expression, GetStructField, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual}

/**
 * The conditions between the copies and the aggregate, split by the columns that they read.
 *
 * @param ofRows conditions that read rows only
 * @param ofWindows conditions that read the window only
 */
private[panes] final case class PaneFilters(ofRows: Seq[Expression], ofWindows: Seq[Expression])

private[panes] object PaneFilters {

  /**
   * Splits the conditions. If the slide does not divide the size, Spark makes one copy too many of
   * some rows and removes it by `time >= window.start AND time < window.end`. Panes ensure this
   * condition, so it is dropped. Any other condition that reads both row and window declines.
   */
  def of(query: PaneQuery, time: Expression): Either[Decline, PaneFilters] = {
    val (within, others) =
      query.filters.partition(c => begun(query, time)(c) || open(query, time)(c))
    val (mixed, clear) =
      others.partition(c => query.readsWindow(c) && !query.readsWindowOnly(c))
    val complete = within.exists(begun(query, time)) && within.exists(open(query, time))
    if (!query.copied.isExact && !complete)
      Left(PanesDecline.UnknownWindow(query.copied.sql))
    else if (mixed.nonEmpty) Left(PanesDecline.FilterBetween(mixed.head.sql))
    else {
      val (ofWindows, ofRows) = clear.partition(query.readsWindow)
      Right(PaneFilters(ofRows, ofWindows))
    }
  }

  /** `time >= window.start` */
  private def begun(query: PaneQuery, time: Expression)(condition: Expression): Boolean =
    condition match {
      case c: GreaterThanOrEqual => isTime(c.left, time) && isBound(query, c.right, 0)
      case c: LessThanOrEqual => isTime(c.right, time) && isBound(query, c.left, 0)
      case _ => false
    }

  /** `time < window.end` */
  private def open(query: PaneQuery, time: Expression)(condition: Expression): Boolean =
    condition match {
      case c: LessThan => isTime(c.left, time) && isBound(query, c.right, 1)
      case c: GreaterThan => isTime(c.right, time) && isBound(query, c.left, 1)
      case _ => false
    }

  private def isTime(side: Expression, time: Expression): Boolean = side.semanticEquals(time)

  private def isBound(query: PaneQuery, side: Expression, ordinal: Int): Boolean = side match {
    case field: GetStructField =>
      field.ordinal == ordinal && field.child.semanticEquals(query.copied.attribute)
    case _ => false
  }
}

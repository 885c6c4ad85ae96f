package io.firesteel.panes

import io.firesteel.core.decide.Decline
import io.firesteel.core.windows.PaneQuery

import org.apache.spark.sql.catalyst.expressions.Expression

/**
 * The conditions between the copies and the aggregate, split by the columns that they read.
 *
 * @param ofRows conditions that read rows only
 * @param ofWindows conditions that read the window only
 */
private[panes] final case class PaneFilters(ofRows: Seq[Expression], ofWindows: Seq[Expression])

private[panes] object PaneFilters {

  /** Splits the conditions. One that reads both row and window declines. */
  def of(query: PaneQuery, time: Expression): Either[Decline, PaneFilters] = {
    val (isExact, others) = query.within(time)
    val (mixed, clear) =
      others.partition(c => query.readsWindow(c) && !query.readsWindowOnly(c))
    if (!isExact) Left(PanesDecline.UnknownWindow(query.copied.sql))
    else if (mixed.nonEmpty) Left(PanesDecline.FilterBetween(mixed.head.sql))
    else {
      val (ofWindows, ofRows) = clear.partition(query.readsWindow)
      Right(PaneFilters(ofRows, ofWindows))
    }
  }
}

package io.firesteel.changelog.plan.frames

import io.firesteel.core.windows.PaneWindows

import org.apache.spark.sql.catalyst.expressions.{Attribute, ExprId}

/**
 * The windows of an aggregate whose last key is a pane, a run of which makes a window. Each window
 * is emitted once, when the watermark has reached its end.
 *
 * @param start the column of the result with the start of a window, and `end` that with its end
 */
final private[changelog] case class Panes(windows: PaneWindows, start: Attribute, end: Attribute) {

  def bounds: Seq[Attribute] = Seq(start, end)

  /** The columns of the result: the keys without the pane, the calls, the window. */
  def output(keys: Seq[Attribute], results: Seq[Attribute]): Seq[Attribute] =
    keys.init ++ results ++ bounds

  /** The same windows in other columns. */
  def named(by: Map[ExprId, Attribute]): Panes =
    copy(start = by.getOrElse(start.exprId, start), end = by.getOrElse(end.exprId, end))

  /** For each bound how long after it the window closes, in microseconds. */
  def closing: Map[ExprId, Long] = Map(start.exprId -> windows.size, end.exprId -> 0L)

  override def toString: String = windows.toString
}

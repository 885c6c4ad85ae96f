package io.firesteel.changelog.plan.frames

import io.firesteel.core.windows.PaneWindows

import org.apache.spark.sql.catalyst.expressions.{Attribute, ExprId}

/**
 * The windows of an aggregate whose last key is a pane, a run of which makes a window.
 *
 * @param start the column of the result with the start of a window, and `end` that with its end
 * @param atClose whether a window is emitted once, when the watermark has reached its end; otherwise
 *   each micro-batch emits the changes of open windows
 * @param isMarked whether a watermark closes windows; it may be one of another column
 */
final private[changelog] case class Panes(
    windows: PaneWindows,
    start: Attribute,
    end: Attribute,
    atClose: Boolean,
    isMarked: Boolean) {

  def bounds: Seq[Attribute] = Seq(start, end)

  /** The columns of the result: the keys without the pane, the calls, the window. */
  def output(keys: Seq[Attribute], results: Seq[Attribute]): Seq[Attribute] =
    keys.init ++ results ++ bounds

  /** The columns by which windows are told apart, in every way. */
  def keys: Seq[Seq[Attribute]] =
    if (windows.isCumulative) Seq(Seq(end), bounds) else Seq(Seq(start), Seq(end), bounds)

  /** For each bound how long after it the window closes, in microseconds. */
  def closing: Map[ExprId, Long] = Map(start.exprId -> windows.size, end.exprId -> 0L)

  override def toString: String = if (atClose) windows.toString else s"$windows, at once"
}

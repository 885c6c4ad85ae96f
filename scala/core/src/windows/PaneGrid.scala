package io.firesteel.core.windows

/**
 * Divides time into panes, so that every window is a run of whole panes.
 *
 * A window begins at each multiple of `slide`. If `slide` divides `size`, windows also end there,
 * and a pane is as long as a slide. Otherwise all windows end at the same offset within a slide,
 * which divides each slide into two panes. Flink's panes are gcd(size, slide) long. They are never
 * fewer, and can be many more: 99 panes a slide for a window of 100 s by 99 s.
 *
 * {{{
 *   size 5, slide 2     |0    |2    |4    |6        windows begin
 *                          |1    |3    |5           windows end
 *   panes               |0 |1 |2 |3 |4 |5 |6 ...    window 0 is panes 0 to 4
 * }}}
 *
 * Panes and windows are numbered in the order of time. Times are in microseconds. LONG overflow
 * wraps around, as it does in Spark's expressions without ANSI mode.
 *
 * @param start the start of window 0, from 0 to `slide` - 1
 */
final case class PaneGrid(size: Long, slide: Long, start: Long) {
  require(slide > 0 && size > slide && start >= 0 && start < slide, toString)

  /** The offset within a slide at which windows end. */
  val rest: Long = size % slide

  private val panesPerSlide: Long = if (rest == 0) 1 else 2

  /** Panes of one window. */
  val panesPerWindow: Long = size / slide * panesPerSlide + (if (rest == 0) 0 else 1)

  /** Whether the result has windows whose start or end wrapped around the range of a LONG. */
  val keepsWrapped: Boolean = rest == 0

  /** Windows that a row belongs to, on average. */
  def overlap: Double = size.toDouble / slide

  /** The pane of a time. */
  def paneOf(time: Long): Long = {
    val since = time - start
    val slides = Math.floorDiv(since, slide)
    if (rest == 0) slides
    else if (since - slides * slide < rest) slides * 2
    else slides * 2 + 1
  }

  /** The first pane of a window. */
  def firstPaneOf(window: Long): Long = window * panesPerSlide

  /** The pane after the last one of a window. */
  def endPaneOf(window: Long): Long = firstPaneOf(window) + panesPerWindow

  /** The first window that contains this pane. */
  def firstWindowOf(pane: Long): Long = Math.floorDiv(pane - panesPerWindow, panesPerSlide) + 1

  /** The start of a window. */
  def startOf(window: Long): Long = start + window * slide

  override def toString: String = {
    val from = if (start == 0) "" else s" from ${PaneGrid.text(start)}"
    s"${PaneGrid.text(size)} by ${PaneGrid.text(slide)}$from"
  }
}

object PaneGrid {

  // 36,000 years. With longer windows, the test times of WindowExpand would overflow a LONG.
  private[firesteel] val longest: Long = 1L << 60

  private val units = Seq(
    "day" -> 86400000000L,
    "hour" -> 3600000000L,
    "minute" -> 60000000L,
    "second" -> 1000000L,
    "millisecond" -> 1000L)

  /** A duration in the largest unit of which it is a multiple. */
  private[firesteel] def text(micros: Long): String = {
    val (unit, length) = units.find(micros % _._2 == 0).getOrElse("microsecond" -> 1L)
    val count = micros / length
    s"$count $unit${if (count == 1) "" else "s"}"
  }
}

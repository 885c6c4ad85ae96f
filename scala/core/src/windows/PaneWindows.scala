package io.firesteel.core.windows

/**
 * Windows that are runs of panes, numbered in the order of their ends. Neither a start nor an end is
 * before that of an earlier window. A pane is known by its start. Times are in microseconds.
 */
sealed private[firesteel] trait PaneWindows extends Product with Serializable {

  /** The pane of a time. */
  def paneOf(time: Long): Long

  /** The pane after a pane. */
  def nextPane(pane: Long): Long

  def startOf(window: Long): Long

  def endOf(window: Long): Long

  /** The first window that contains this pane. */
  def firstWindowOf(pane: Long): Long

  /** The last window that ends at this time or before. */
  def lastEndedAt(time: Long): Long

  /** The length of the longest window. */
  def size: Long

  /** Windows that contain a pane, at most. */
  def overlap: Long

  /** Whether a window has all panes of the window before it, or none. */
  def isCumulative: Boolean

  /** The windows after those that end at this time or before, as the start of their first pane. */
  final def firstOpenPane(time: Long): Long = startOf(lastEndedAt(time) + 1)
}

private[firesteel] object PaneWindows {

  /** Windows of one size that begin at every slide. */
  final case class Sliding(grid: PaneGrid) extends PaneWindows {
    override def size: Long = grid.size
    override def overlap: Long = (size - 1) / grid.slide + 1
    override def isCumulative: Boolean = false
    override def toString: String = grid.toString

    override def paneOf(time: Long): Long = {
      val within = Math.floorMod(Math.subtractExact(time, grid.start), grid.slide)
      // Ends of windows divide a slide in two, unless starts and ends fall together.
      Math.subtractExact(time, if (within < grid.rest) within else within - grid.rest)
    }

    override def nextPane(pane: Long): Long = {
      val within = Math.floorMod(pane - grid.start, grid.slide)
      pane + (if (within < grid.rest) grid.rest - within else grid.slide - within)
    }

    override def startOf(window: Long): Long = grid.startOf(window)
    override def endOf(window: Long): Long = grid.startOf(window) + size

    override def firstWindowOf(pane: Long): Long =
      Math.floorDiv(pane - size - grid.start, grid.slide) + 1

    override def lastEndedAt(time: Long): Long =
      Math.floorDiv(time - size - grid.start, grid.slide)
  }

  /** Windows with a common start that end at every `step`, up to `size`, a multiple of it. */
  final case class Cumulative(step: Long, size: Long, offset: Long) extends PaneWindows {
    override def overlap: Long = size / step
    override def isCumulative: Boolean = true

    override def toString: String = {
      val from = if (offset == 0L) "" else s" from ${PaneGrid.text(offset)}"
      s"up to ${PaneGrid.text(size)} by ${PaneGrid.text(step)}$from"
    }

    override def paneOf(time: Long): Long =
      Math.subtractExact(time, Math.floorMod(Math.subtractExact(time, offset), step))

    override def nextPane(pane: Long): Long = pane + step
    override def endOf(window: Long): Long = offset + (window + 1) * step

    override def startOf(window: Long): Long = {
      val last = offset + window * step
      last - Math.floorMod(last - offset, size)
    }

    override def firstWindowOf(pane: Long): Long = Math.floorDiv(pane - offset, step)
    override def lastEndedAt(time: Long): Long = Math.floorDiv(time - offset, step) - 1
  }
}

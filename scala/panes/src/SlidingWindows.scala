package io.firesteel.panes

import io.firesteel.core.windows.PaneGrid
import org.apache.spark.sql.catalyst.InternalRow

/**
 * Slides a window over the panes of each key in turn, and stops at every requested window that has
 * rows.
 *
 * The cost of a window is the panes added and dropped, for any window length. Over a gap it jumps
 * to the first window with rows. It skips panes that no requested window contains.
 *
 * @param isWanted whether the window with this number is requested
 */
private[panes] final class SlidingWindows(
    grid: PaneGrid,
    merge: SlidingMerge,
    isWanted: Long => Boolean) {

  private[this] var panes: PaneCursor = _

  /** The number of the current window. */
  var window: Long = 0L

  /** Starts the panes of a key and moves to its first window; false if there is none. */
  def begin(panes: PaneCursor): Boolean = {
    merge.clear()
    this.panes = panes
    panes.hasPane && {
      window = grid.firstWindowOf(panes.pane)
      find()
    }
  }

  /** Moves to the next window; false at the end. */
  def next(): Boolean = {
    window += 1
    find()
  }

  /** The results of the window's rows, in a reused row. */
  def results: InternalRow = merge.results

  /** Moves to the first requested window with rows, from the current one on. */
  private def find(): Boolean = {
    var (found, more) = (false, true)
    while (!found && more) {
      dropBefore(grid.firstPaneOf(window))
      if (merge.isEmpty && !panes.hasPane) more = false
      else if (merge.isEmpty && panes.pane >= grid.endPaneOf(window))
        window = grid.firstWindowOf(panes.pane)
      else if (isWanted(window)) {
        takeBefore(grid.endPaneOf(window))
        found = true
      } else window += 1
    }
    found
  }

  private def dropBefore(pane: Long): Unit = {
    merge.dropBefore(pane)
    while (panes.hasPane && panes.pane < pane) panes.advance()
  }

  private def takeBefore(pane: Long): Unit =
    while (panes.hasPane && panes.pane < pane) {
      merge.add(panes.pane, panes.state)
      panes.advance()
    }
}

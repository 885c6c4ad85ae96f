package io.firesteel.panes

import org.apache.spark.sql.catalyst.InternalRow

/**
 * Slides a window over the panes of one key after another, and stops at every wanted window that has
 * rows.
 *
 * A window costs the panes that come in and go out, whatever its length; where there are no rows,
 * it jumps to the first window that has some. Panes of no wanted window are passed over.
 *
 * @param isWanted whether a window of this number is asked for
 */
private[panes] final class SlidingWindows(
    grid: PaneGrid,
    merge: SlidingMerge,
    isWanted: Long => Boolean) {

  private[this] var panes: PaneCursor = _

  /** The number of the window at which it stands. */
  var window: Long = 0L

  /** Turns to the panes of a key and goes to its first window; false when there is none. */
  def begin(panes: PaneCursor): Boolean = {
    merge.clear()
    this.panes = panes
    panes.hasPane && {
      window = grid.firstWindowOf(panes.pane)
      find()
    }
  }

  /** Goes on to the next window; false when there is none. */
  def next(): Boolean = {
    window += 1
    find()
  }

  /** The results of the window's rows, in a row that the next window uses again. */
  def results: InternalRow = merge.results

  /** Finds the first window from this one on. */
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

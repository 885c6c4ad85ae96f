package io.firesteel.panes

import io.firesteel.core.windows.PaneGrid
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BasePredicate, JoinedRow, SpecificInternalRow, UnsafeProjection}
import org.apache.spark.sql.types.LongType

/**
 * Emits the windows of each key as rows.
 *
 * @param wanted a condition on a row with one column, the window
 * @param output makes a row from keys, window and results
 */
private[panes] final class PaneWindowsIterator(
    panes: PaneRows,
    merge: SlidingMerge,
    grid: PaneGrid,
    wanted: Option[BasePredicate],
    output: UnsafeProjection)
  extends Iterator[InternalRow] {

  private[this] val bounds = new SpecificInternalRow(Seq(LongType, LongType))
  private[this] val window = InternalRow(bounds)
  private[this] val group = new JoinedRow
  private[this] val whole = new JoinedRow
  private[this] val windows = new SlidingWindows(grid, merge, isWanted)

  private[this] var inKey = false
  private[this] var found = false

  override def hasNext: Boolean = {
    if (!found) found = advance()
    found
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    found = false
    setBounds(windows.window)
    output(whole(group(panes.key, window), windows.results))
  }

  /** Moves to the next window, of this key or of a later one. */
  private def advance(): Boolean = {
    if (inKey) inKey = windows.next()
    while (!inKey && panes.nextKey()) inKey = windows.begin(panes)
    inKey
  }

  private def isWanted(number: Long): Boolean = {
    setBounds(number)
    val isWhole = bounds.getLong(0) < bounds.getLong(1)
    (isWhole || grid.keepsWrapped) && wanted.forall(_.eval(window))
  }

  private def setBounds(number: Long): Unit = {
    val start = grid.startOf(number)
    bounds.setLong(0, start)
    bounds.setLong(1, start + grid.size)
  }
}

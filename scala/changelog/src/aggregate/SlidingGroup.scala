package io.firesteel.changelog.aggregate

import io.firesteel.changelog.aggregate.slots.GroupState

import java.util.ArrayDeque

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The state of a window in memory, as panes enter and leave it in the order of time; without sets of
 * values. The same queue of two stacks as in [[RunningWindow]].
 */
final private[aggregate] class SlidingGroup(layout: AggregateLayout, made: AggregateRows) {

  private[this] val hasOthers = layout.others.nonEmpty

  // Exact slots of all panes, and the others of the newer panes.
  private[this] var state = layout.newState()
  private[this] val newer = new ArrayDeque[UnsafeRow]
  private[this] val older = new ArrayDeque[UnsafeRow] // each merged of a pane and later ones

  def rows: Long = layout.rows.count(state)

  /** The last pane enters. */
  def enter(pane: UnsafeRow): Unit = {
    layout.exact.merge(state, pane)
    if (hasOthers) {
      layout.others.merge(state, pane)
      newer.addLast(pane)
    }
  }

  /** The first pane leaves. */
  def leave(pane: UnsafeRow): Unit = {
    layout.exact.retract(state, pane)
    if (hasOthers) {
      if (older.isEmpty) keepSteps()
      val _ = older.removeFirst()
    }
  }

  /** The newer panes become the older ones. */
  private def keepSteps(): Unit = {
    while (!newer.isEmpty) {
      val merged = layout.newState()
      layout.others.merge(merged, newer.removeLast())
      if (!older.isEmpty) layout.others.merge(merged, older.peekFirst())
      older.addFirst(made.valueOf(merged, null).copy())
    }
    layout.others.reset(state)
  }

  def clear(): Unit = {
    state = layout.newState()
    newer.clear()
    older.clear()
  }

  /** The state of all rows. */
  def all: GroupState =
    if (older.isEmpty) state
    else {
      val whole = state.copy()
      layout.others.reset(whole)
      layout.others.merge(whole, older.peekFirst())
      layout.others.merge(whole, made.valueOf(state, null))
      whole
    }
}

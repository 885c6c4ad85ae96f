package io.firesteel.panes

import io.firesteel.core.rows.{MemoryBudget, MergeableAggregates}
import java.util.ArrayDeque

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Merges the panes of a window that moves on: panes are added behind and dropped in front.
 *
 * Two stacks. Newer panes are merged into one buffer as they come. Older ones have been merged from
 * the newest of them back to the oldest, and each of these steps was kept; so what remains when the
 * oldest is dropped is there already. A window is then one step of the older and the buffer of the
 * newer. When the older are used up, the newer become the older. Each pane is merged at most three
 * times, however many windows it belongs to, and always in the order of time. Nothing is
 * subtracted, so floating-point sums do not drift, and every function that can merge will do.
 *
 * Some states grow when they are merged (`collect_list`): the kept steps would be many times as
 * large as the panes. This is found out at the first attempt, and from then on each window is merged
 * anew from its panes; that is as much work as writing down its answer.
 *
 * Memory: the panes of one window, which every window needs, and the kept steps, for which `budget`
 * is asked; when it refuses, windows are merged anew as well.
 */
private[panes] final class SlidingMerge(aggregates: MergeableAggregates, budget: MemoryBudget) {
  import SlidingMerge._

  // From old to new: steps, each with the merged state of its pane and all that follow in it.
  private[this] val older = new ArrayDeque[Pane]
  private[this] val newer = new ArrayDeque[Pane]
  private[this] var newerMerged: InternalRow = _
  private[this] var newest: InternalRow = _ // the buffer of the last pane, if it came in parts
  private[this] var bytes = 0L
  private[this] var ofWindow: InternalRow = _
  private[this] var answer: InternalRow = _

  /** Whether every window is merged from its panes, without kept steps. */
  var mergesAnew: Boolean = false

  /** States merged so far, for the tests of what a window costs. */
  var merges: Long = 0L

  def isEmpty: Boolean = older.isEmpty && newer.isEmpty

  /** Forgets all panes. */
  def clear(): Unit = {
    older.clear()
    newer.clear()
    newerMerged = null
    newest = null
    answer = null
    bytes = 0L
    budget.releaseTo(spareBytes)
  }

  /** Adds a pane behind, or more rows of the last one. */
  def add(number: Long, state: InternalRow): Unit = {
    val row = state.asInstanceOf[UnsafeRow]
    if (!newer.isEmpty && newer.peekLast().number == number) {
      if (newest == null) newest = bufferOf(newer.peekLast().state)
      merge(newest, row)
    } else {
      endNewest()
      addLast(new Pane(number, row.copy()))
    }
    if (!mergesAnew) {
      if (newerMerged == null) newerMerged = bufferOf(row)
      else merge(newerMerged, row)
    }
    answer = null
  }

  private def addLast(pane: Pane): Unit = {
    newer.addLast(pane)
    bytes += pane.bytes
    // Without these panes there is no window: all that a refusal can do is to keep no steps.
    val _ = budget.hold(bytes)
  }

  /** Writes the last pane down, when all its parts have come. */
  private def endNewest(): Unit =
    if (newest != null) {
      val parts = newer.pollLast()
      bytes -= parts.bytes
      addLast(new Pane(parts.number, ownStateOf(newest)))
      newest = null
    }

  /** Drops the panes before this one. */
  def dropBefore(number: Long): Unit = {
    endNewest()
    dropFrom(older, number)
    if (older.isEmpty && !newer.isEmpty && newer.peekFirst().number < number) {
      dropFrom(newer, number)
      newerMerged = null
      if (!newer.isEmpty && !mergesAnew) keepSteps()
    }
  }

  /** The results of all panes, in a row that is used again. */
  def results: InternalRow = {
    if (answer == null) {
      endNewest()
      answer = aggregates.results(merged)
    }
    answer
  }

  private def merged: InternalRow =
    if (mergesAnew) {
      val all = aggregates.newBuffer()
      older.forEach(pane => merge(all, pane.state))
      newer.forEach(pane => merge(all, pane.state))
      all
    } else if (older.isEmpty) {
      // More will be merged into it, and a user's function may use its object up.
      if (aggregates.hasObjects) bufferOf(aggregates.state(newerMerged)) else newerMerged
    } else {
      merges += 1
      ofWindow = aggregates.bufferOf(older.peekFirst().state, ofWindow)
      if (newerMerged != null) merge(ofWindow, aggregates.state(newerMerged))
      ofWindow
    }

  private def bufferOf(state: UnsafeRow): InternalRow = {
    merges += 1
    aggregates.bufferOf(state)
  }

  private def merge(buffer: InternalRow, state: UnsafeRow): Unit = {
    merges += 1
    aggregates.merge(buffer, state)
  }

  /** The state of a buffer that is not needed any more. */
  private def ownStateOf(buffer: InternalRow): UnsafeRow = {
    val state = aggregates.state(buffer)
    if (state eq buffer) state else state.copy()
  }

  private def dropFrom(panes: ArrayDeque[Pane], number: Long): Unit =
    while (!panes.isEmpty && panes.peekFirst().number < number) {
      bytes -= panes.pollFirst().bytes
      answer = null
    }

  /** Turns the newer panes into steps of older ones, unless these take too much memory. */
  private def keepSteps(): Unit = {
    val (before, limit) = (bytes, bytes * maxGrowth + spareBytes)
    var after = 0L
    val panes = newer.descendingIterator()
    while (panes.hasNext && !mergesAnew) {
      val pane = panes.next()
      val state =
        if (older.isEmpty) pane.state
        else {
          val step = bufferOf(pane.state)
          merge(step, older.peekFirst().state)
          ownStateOf(step)
        }
      older.addFirst(new Pane(pane.number, state))
      after += older.peekFirst().bytes
      if (after > limit || !budget.hold(before + after)) mergesAnew = true
    }
    if (mergesAnew) older.clear()
    else {
      newer.clear()
      bytes = after
    }
  }
}

private object SlidingMerge {
  private val paneOverhead = 64L // two objects and a reference
  private val maxGrowth = 4
  private val spareBytes = 64L << 10

  private final class Pane(val number: Long, val state: UnsafeRow) {
    val bytes: Long = state.getSizeInBytes + paneOverhead
  }
}

package io.firesteel.panes

import io.firesteel.core.rows.{MemoryBudget, MergeableAggregates}
import java.util.ArrayDeque

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Merges the panes of a sliding window: new panes are added at the end, old panes are dropped at
 * the front.
 *
 * It is a queue of two stacks. Newer panes are merged into one buffer when they are added. Older
 * panes were merged from the newest back to the oldest, and the state of each step was kept. So
 * after the oldest pane is dropped, the merged state of the rest is already known. A window is one
 * step of the older panes merged with the buffer of the newer ones. When no older pane is left, the
 * newer ones become the older ones. Each pane is merged at most three times, for any number of
 * windows, and always in the order of time. Nothing is subtracted, so floating-point sums do not
 * drift, and every function that can merge states works.
 *
 * Some states grow when they are merged (`collect_list`), and the kept steps would be many times as
 * large as the panes. The first attempt to keep steps detects this. From then on each window is
 * merged from all of its panes, which is as much work as writing the result.
 *
 * Memory: the panes of one window, which are always needed, and the kept steps, which `budget`
 * grants. If it refuses, each window is merged from all of its panes too.
 *
 * @param copiesMerged whether a merge costs as much as both states
 */
private[panes] final class SlidingMerge(
    aggregates: MergeableAggregates,
    budget: MemoryBudget,
    copiesMerged: Boolean = false) {
  import SlidingMerge._

  // Steps, the oldest first. Each has the merged state of its pane and of all later panes in it.
  private[this] val older = new ArrayDeque[Pane]
  private[this] val newer = new ArrayDeque[Pane]
  private[this] var newerMerged: InternalRow = _
  private[this] var newest: InternalRow = _ // the buffer of the last pane, if it has several parts
  private[this] var bytes = 0L
  private[this] var ofWindow: InternalRow = _
  private[this] var answer: InternalRow = _

  /** Whether every window is merged from its panes, without kept steps. */
  var mergesAnew: Boolean = false

  /** Number of merges so far. Tests check the cost of a window with it. */
  var merges: Long = 0L

  def isEmpty: Boolean = older.isEmpty && newer.isEmpty

  /** Drops all panes. */
  def clear(): Unit = {
    older.clear()
    newer.clear()
    newerMerged = null
    newest = null
    answer = null
    bytes = 0L
    budget.releaseTo(spareBytes)
  }

  /** Adds a pane at the end, or another part of the last pane. */
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
    // The window needs these panes, so a refusal cannot free them. Only steps depend on the budget.
    val _ = budget.hold(bytes)
  }

  /** Stores the merged state of the last pane, after its last part. */
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

  /** The results over all panes, in a reused row. */
  def results: InternalRow = {
    if (answer == null) {
      endNewest()
      answer = aggregates.results(merged)
    }
    answer
  }

  private def merged: InternalRow =
    if (mergesAnew && copiesMerged) inPairs
    else if (mergesAnew) {
      val all = aggregates.newBuffer()
      older.forEach(pane => merge(all, pane.state))
      newer.forEach(pane => merge(all, pane.state))
      all
    } else if (older.isEmpty) {
      // Evaluating a user's function may change its object, and later panes are merged into it.
      if (aggregates.hasObjects) bufferOf(aggregates.state(newerMerged)) else newerMerged
    } else {
      merges += 1
      ofWindow = aggregates.bufferOf(older.peekFirst().state, ofWindow)
      if (newerMerged != null) merge(ofWindow, aggregates.state(newerMerged))
      ofWindow
    }

  /** Neighbours of about equal size are merged, so each state is copied a logarithm of times. */
  private def inPairs: InternalRow = {
    val runs = new ArrayDeque[Run]
    def add(pane: Pane): Unit = {
      var run = new Run(1, bufferOf(pane.state))
      while (!runs.isEmpty && runs.peekLast().panes <= run.panes) run = joined(runs.pollLast(), run)
      runs.addLast(run)
    }
    older.forEach(add(_))
    newer.forEach(add(_))
    if (runs.isEmpty) aggregates.newBuffer()
    else {
      var all = runs.pollLast()
      while (!runs.isEmpty) all = joined(runs.pollLast(), all)
      all.buffer
    }
  }

  private def joined(before: Run, after: Run): Run = {
    merges += 1
    aggregates.mergeBuffer(before.buffer, after.buffer)
    new Run(before.panes + after.panes, before.buffer)
  }

  private def bufferOf(state: UnsafeRow): InternalRow = {
    merges += 1
    aggregates.bufferOf(state)
  }

  private def merge(buffer: InternalRow, state: UnsafeRow): Unit = {
    merges += 1
    aggregates.merge(buffer, state)
  }

  /** The state of a buffer that is no longer used. */
  private def ownStateOf(buffer: InternalRow): UnsafeRow = {
    val state = aggregates.state(buffer)
    if (state eq buffer) state else state.copy()
  }

  private def dropFrom(panes: ArrayDeque[Pane], number: Long): Unit =
    while (!panes.isEmpty && panes.peekFirst().number < number) {
      bytes -= panes.pollFirst().bytes
      answer = null
    }

  /** Turns the newer panes into steps of older ones, unless the steps need too much memory. */
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

  /** The merged buffer of neighbouring panes. */
  private final class Run(val panes: Int, val buffer: InternalRow)

  private final class Pane(val number: Long, val state: UnsafeRow) {
    val bytes: Long = state.getSizeInBytes + paneOverhead
  }
}

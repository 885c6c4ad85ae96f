package io.firesteel.changelog.aggregate

import io.firesteel.changelog.aggregate.slots.GroupState
import io.firesteel.changelog.fold.ValueTallies
import io.firesteel.changelog.state.StateEntries
import io.firesteel.core.windows.PaneWindows

import java.nio.ByteBuffer

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The window of one key, as it slides over the panes of that key in the store. One per task; `open`
 * moves it to another key.
 *
 * The store has an entry for each pane, a group as any other, and one entry for the window, whose
 * key has a null for the pane:
 *
 * {{{
 *   set | key | pane  | slots                        | values
 *   -1  | k=1 | 10:00 | of the pane                  | null, or a step: others of it and later panes
 *   -2  | k=1 | null  | of the window                | which panes it has, and which will come
 *    0  | k=1 | 10:00 |                              | distinct values of the pane
 *    0  | k=1 | null  |                              | distinct values of the window
 * }}}
 *
 * **Exact slots** (counts, exact sums, values of sets) have an inverse. A pane that comes is added to
 * the window, and one that goes is taken away.
 *
 * **Other slots** (`min`, `max`, Spark's own buffers) have none, and the panes of a window are a
 * queue of two stacks. The slots of the window have the newer panes, merged as they came. When the
 * older stack is empty, the newer panes become the older ones: each gets a step, which is merged of
 * it and all later panes up to the `boundary`. A result is one step and the newer panes. So a pane
 * is merged three times, for any number of windows, and always in the order of time.
 *
 * A window that no pane enters or leaves is not written. The panes of the window are not listed:
 * after one has gone the next one is found by reading the panes that may follow, one for each
 * window that was passed. The first micro-batch of a run finds in these entries up to which time
 * windows have closed: of each partition that closes windows at least one entry is written.
 */
final private[aggregate] class RunningWindow(
    layout: AggregateLayout,
    windows: PaneWindows,
    made: AggregateRows,
    entries: StateEntries) {
  import RunningWindow.none

  private[this] val ofPanes = new ValueBuckets(layout, made, entries)
  private[this] val ofWindow = new ValueBuckets(layout, made, entries, holds = true)
  private[this] val sets = new SetUpdate(layout, ofWindow)

  private[this] val paneAt = layout.numKeys - 1
  private[this] val hasOthers = layout.others.nonEmpty
  private[this] val tallies = layout.sets.map(set => new ValueTallies(set.isNumber))

  private[this] var key: UnsafeRow = _ // of the window: with a null for the pane
  private[this] var paneKey: UnsafeRow = _
  private[this] var state: GroupState = _
  private[this] var isKept = false
  private[this] var isChanged = false

  // Panes from `oldest` until `entered` are in the window; none if these are equal.
  private[this] var oldest = none
  private[this] var entered = none
  private[this] var boundary = none
  private[this] var step: UnsafeRow = _ // of the oldest pane, if that is before the boundary
  private[this] val coming = new ComingPanes

  // The time up to which windows of the partition had closed when this was last told, and the number
  // of partitions that the state had then.
  private[this] var endedAt = none
  private[this] var partitions = 0

  /** Tells the time up to which windows of the partition have closed. */
  def mark(closed: Long, of: Int): Unit = {
    endedAt = closed
    partitions = of
  }

  /** Moves to the window of a key; `any` is the key of one of its panes, or of the window. */
  def open(any: UnsafeRow): Unit = {
    key = any.copy()
    key.setNullAt(paneAt)
    read(entries.get(made.windowEntryOf(key)))
  }

  /** The same with the value of its entry; null if it has none. */
  def open(windowKey: UnsafeRow, stored: UnsafeRow): Unit = {
    key = windowKey.copy()
    read(stored)
  }

  private def read(stored: UnsafeRow): Unit = {
    paneKey = key.copy()
    state = layout.newState()
    isKept = stored != null
    isChanged = false
    coming.clear()
    step = null
    oldest = none
    entered = none
    boundary = none
    mark(none, 0)
    if (stored != null) {
      layout.mergeValue(state, stored)
      val bytes = ByteBuffer.wrap(stored.getBinary(layout.valuesAt))
      oldest = bytes.getLong()
      entered = bytes.getLong()
      boundary = bytes.getLong()
      val count = bytes.getInt()
      // Entries of earlier commits have no time; others tell it by the complement of the number.
      if (count < 0) mark(bytes.getLong(), bytes.getInt())
      (0 until (if (count < 0) ~count else count)).foreach(_ => coming.add(bytes.getLong()))
      if (bytes.hasRemaining) {
        val own = new Array[Byte](bytes.remaining)
        bytes.get(own)
        step = rowOf(own)
      }
    }
  }

  /**
   * Writes the window, if it has changed; whether it is written.
   *
   * @param always writes it also if it is as it was, but for its mark
   */
  def save(always: Boolean = false): Boolean = {
    val isOver = isEmpty && coming.isEmpty
    val isWritten = (isChanged || always) && !isOver
    if (isChanged || isWritten) {
      ofWindow.flush()
      if (isWritten) write() else if (isKept) entries.remove(made.windowEntryOf(key))
      isChanged = false
      isKept = isWritten
    }
    isWritten
  }

  private def write(): Unit = {
    val more = if (step == null) Array.emptyByteArray else step.getBytes
    val bytes = ByteBuffer.allocate(40 + 8 * coming.size + more.length)
    bytes.putLong(oldest).putLong(entered).putLong(boundary).putInt(~coming.size)
    bytes.putLong(endedAt).putInt(partitions)
    coming.write(bytes)
    bytes.put(more)
    entries.put(made.windowEntryOf(key), made.valueOf(state, bytes.array))
  }

  /** Whether the window has no panes. */
  def isEmpty: Boolean = oldest >= entered

  /** The first pane that will come. */
  def next: Option[Long] = Option.when(!coming.isEmpty)(coming.first)

  /** Whether the window has, or has had, the panes of this time. */
  def hasPassed(pane: Long): Boolean = pane < entered

  /** A new pane that will come. */
  def expect(pane: Long): Unit = if (coming.add(pane)) isChanged = true

  /** Takes a pane away that is about to change. */
  def withdraw(pane: Long): Unit = {
    val stored = paneOf(pane)
    if (stored != null) { val _ = takeAway(pane, stored) }
  }

  /** Adds a pane that the window has passed, and that has changed. */
  def admit(pane: Long): Unit = {
    isChanged = true
    val stored = paneOf(pane)
    if (stored != null) {
      // A late row of a run's first micro-batch may be of a window before: panes of these are added up.
      if (windows.isCumulative && pane < windows.startOf(windows.firstWindowOf(entered - 1))) {
        remove(stateOf(stored))
      } else {
        add(pane, stored)
        if (hasOthers && !windows.isCumulative) mergeAgain()
      }
    }
  }

  /** Moves to a later window; whether it has rows. */
  def moveTo(window: Long): Boolean = {
    val start = windows.startOf(window)
    leaveBefore(start)
    val until = windows.endOf(window)
    while (!coming.isEmpty && coming.first < until) {
      isChanged = true
      val pane = coming.removeFirst()
      val stored = paneOf(pane)
      // A late row of a run's first micro-batch may be of windows that have closed.
      if (stored != null) if (pane < start) remove(stateOf(stored)) else add(pane, stored)
    }
    layout.rows.count(state) > 0
  }

  /** The state of all rows of the window. */
  def all: GroupState =
    if (!hasOthers) state
    else {
      // Evaluating a function may change its buffer, and later panes are merged into it.
      val whole = state.copy()
      layout.others.reset(whole)
      if (step != null) layout.others.merge(whole, step)
      layout.others.merge(whole, made.valueOf(state, null))
      whole
    }

  private def paneOf(pane: Long): UnsafeRow = {
    paneKey.setLong(paneAt, pane)
    entries.get(made.entryOf(paneKey))
  }

  private def add(pane: Long, stored: UnsafeRow): Unit = {
    layout.exact.merge(state, stored)
    layout.others.merge(state, stored)
    val its = stateOf(stored)
    countValues(its, 1L)
    oldest = if (isEmpty) pane else math.min(oldest, pane)
    entered = math.max(entered, windows.nextPane(pane))
    // Nothing is taken from a window that grows until it ends.
    if (windows.isCumulative) remove(its)
  }

  private def takeAway(pane: Long, stored: UnsafeRow): GroupState = {
    paneKey.setLong(paneAt, pane)
    layout.exact.retract(state, stored)
    val its = stateOf(stored)
    countValues(its, -1L)
    its
  }

  private def stateOf(stored: UnsafeRow): GroupState = {
    val its = layout.newState()
    layout.mergeValue(its, stored)
    its
  }

  /** Adds the values of the pane of `paneKey` to those of the window, or takes them away. */
  private def countValues(pane: GroupState, sign: Long): Unit = {
    var set = 0
    while (set < tallies.length) {
      val of = tallies(set)
      of.clear()
      ofPanes.foreach(paneKey, pane, set) { (values, entry) =>
        val count = sign * values.count(entry)
        if (of.isNumber) of.addNumber(0, values.number(entry), count)
        else of.addRow(0, values.row(entry), count)
      }
      if (of.size > 0) sets(key, state, set, of, of.byGroup(1)._1, 0, of.size)
      set += 1
    }
  }

  /** Removes the pane of `paneKey` from the store. */
  private def remove(pane: GroupState): Unit = {
    entries.remove(made.entryOf(paneKey))
    layout.sets.indices.foreach(ofPanes.forget(paneKey, pane, _))
  }

  private def leaveBefore(start: Long): Unit =
    if (!isEmpty && oldest < start) {
      isChanged = true
      if (start >= entered) clear()
      else while (oldest < start) {
        val stored = paneOf(oldest)
        if (stored != null) remove(takeAway(oldest, stored))
        val wasOlder = oldest < boundary
        oldest = existing(windows.nextPane(oldest))
        if (hasOthers) if (wasOlder) readStep() else keepSteps()
      }
    }

  /** All panes leave. */
  private def clear(): Unit = {
    layout.sets.indices.foreach(ofWindow.forget(key, state, _))
    state = layout.newState()
    if (!windows.isCumulative) foreachPane(oldest) { stored => remove(stateOf(stored)) }
    oldest = entered
    boundary = none
    step = null
  }

  /** The first pane of the store from here on; `entered` if there is none in the window. */
  private def existing(from: Long): Long = {
    var pane = from
    while (pane < entered && paneOf(pane) == null) pane = windows.nextPane(pane)
    math.min(pane, entered)
  }

  /** Visits the panes of the window from here on; `paneKey` is the key of each. */
  private def foreachPane(from: Long)(visit: UnsafeRow => Unit): Unit = {
    var pane = from
    while (pane < entered) {
      val stored = paneOf(pane)
      if (stored != null) visit(stored)
      pane = windows.nextPane(pane)
    }
  }

  private def readStep(): Unit =
    step =
      if (oldest >= boundary || oldest >= entered) null
      else rowOf(paneOf(oldest).getBinary(layout.valuesAt))

  /** The newer panes become the older ones. */
  private def keepSteps(): Unit = {
    val panes = ArrayBuffer.empty[(UnsafeRow, UnsafeRow)]
    foreachPane(oldest)(stored => panes += ((paneKey.copy(), stored.copy())))
    step = null
    panes.reverseIterator.foreach { case (paneKey, stored) =>
      val merged = layout.newState()
      layout.others.merge(merged, stored)
      if (step != null) layout.others.merge(merged, step)
      step = made.valueOf(merged, null).copy()
      entries.put(made.entryOf(paneKey), made.valueOf(stateOf(stored), step.getBytes))
    }
    layout.others.reset(state)
    boundary = entered
  }

  /** All panes become newer ones: one has changed, and with it the steps of those before it. */
  private def mergeAgain(): Unit = {
    layout.others.reset(state)
    foreachPane(oldest)(layout.others.merge(state, _))
    boundary = none
    step = null
  }

  private def rowOf(bytes: Array[Byte]): UnsafeRow = {
    val row = new UnsafeRow(layout.valueTypes.size)
    row.pointTo(bytes, bytes.length)
    row
  }
}

private[aggregate] object RunningWindow {

  /** A time before all panes. */
  val none: Long = Long.MinValue

  /**
   * The time up to which windows had closed when an entry was written.
   *
   * @param partitions the number of partitions of the state at that time: state that is split anew has
   *   entries of partitions of which another entry had a later time
   */
  final case class Mark(endedAt: Long, partitions: Int)

  /** The mark in the value of a window's entry, if it has one. */
  def markIn(stored: UnsafeRow, valuesAt: Int): Option[Mark] = {
    val bytes = ByteBuffer.wrap(stored.getBinary(valuesAt))
    Option.when(bytes.getInt(24) < 0)(Mark(bytes.getLong(28), bytes.getInt(36)))
      .filter(_.endedAt != none)
  }
}

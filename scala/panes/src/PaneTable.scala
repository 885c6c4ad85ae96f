package io.firesteel.panes

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * A hash table of pane states, with group and pane as key.
 *
 * Sixteen consecutive panes are a *run*: one cache line of state numbers. Rows of a group mostly
 * fall into neighbouring panes, so there are few runs. Lookups work in batches, because the table
 * is larger than the processor's cache: reads that do not wait for each other take a fraction of
 * the time.
 *
 * Memory: 32 to 64 bytes a run for its slots, 76 to 152 for the run itself, and the states. States
 * never move.
 *
 * @param empty the state of no rows; all states have its size
 */
private[panes] final class PaneTable(empty: UnsafeRow) {
  import PaneTable._

  private[this] val stateBytes = empty.getSizeInBytes
  private[this] val stride = math.max(8, stateBytes) // without functions a state is empty
  private[this] val pageBits = 31 - Integer.numberOfLeadingZeros(math.max(1, pageBytes / stride))
  private[this] val inPage = (1 << pageBits) - 1

  /** The number of panes in one lookup: fewer if states are large. */
  val batchSize: Int = math.max(1, math.min(batch, largeBatch / stride))

  // Two words a run: its first pane / 16; and its group << 32 | its number + 1, or 0 if free.
  private[this] var slots = new Array[Long](4 * initialRuns)
  private[this] var runs = 0
  private[this] var runAt = new Array[Int](initialRuns) // its slot
  private[this] var states = new Array[Int](initialRuns * width) // a state's number + 1, or 0

  private[this] var pages = new Array[Array[Byte]](8)
  private[this] var pagesHeld = 0
  private[this] var count = 0
  private[this] val state = new UnsafeRow(empty.numFields)

  private[this] val places = new Array[Int](batch)
  private[this] var touched = 0L

  /** Panes that have a state. */
  def size: Int = count

  /** Bytes held. */
  def bytes: Long =
    slots.length * 8L + runAt.length * runBytes + pagesHeld * (stride.toLong << pageBits)

  /**
   * The bytes that the next `batchSize` panes need if all are new. If the table has reached its largest
   * size, a number that no budget grants.
   */
  def growth: Long = {
    val ofRuns =
      if (runs + batch <= runAt.length) 0L
      else if (runAt.length >= mostRuns) Long.MaxValue >> 2
      else runAt.length * (2 * runBytes + 64L)
    ofRuns + pagesFor(count + batchSize) * (stride.toLong << pageBits)
  }

  /**
   * Finds the states of panes, and adds an empty state for each new pane.
   *
   * @param number the number of panes, at most `batchSize`
   * @param found output: the number of each state
   */
  def find(number: Int, groups: Array[Int], panes: Array[Long], found: Array[Int]): Unit = {
    makeRoom()
    // Reads in one loop overlap. `touched` uses their values, so that the JIT keeps the reads.
    var sum = 0L
    var i = 0
    while (i < number) {
      sum += slots(2 * slotOf(groups(i), panes(i) >> widthBits) + 1)
      i += 1
    }
    i = 0
    while (i < number) {
      val run = runOf(groups(i), panes(i) >> widthBits)
      places(i) = run * width + (panes(i).toInt & (width - 1))
      sum += states(places(i))
      i += 1
    }
    i = 0
    while (i < number) {
      val known = states(places(i)) - 1
      found(i) = if (known >= 0) known else add(places(i))
      sum += pages(found(i) >> pageBits)((found(i) & inPage) * stride)
      i += 1
    }
    touched += sum
  }

  /** The state with this number, in a reused row. */
  def stateOf(number: Int): UnsafeRow = {
    state.pointTo(
      pages(number >> pageBits),
      Platform.BYTE_ARRAY_OFFSET + (number & inPage).toLong * stride,
      stateBytes)
    state
  }

  /** A cursor over all panes. It is invalid after the table changes. */
  def cursor: Cursor = new Cursor(inOrder)

  /**
   * Visits each pane once. The order is group, then pane, if a run's group, first pane and number
   * fit into one word; otherwise there is no order. The order is no promise: it makes the sort and
   * the lookups of later operators faster.
   *
   * @param runsInOrder a word for each run, with the run's number in the lowest `runBits`
   */
  final class Cursor private[PaneTable] (runsInOrder: Array[Long]) {
    private[this] val mask = (1L << runBits) - 1
    private[this] var run = -1
    private[this] var place = width - 1

    /** Moves to the next pane; false at the end. */
    def next(): Boolean = {
      do {
        place += 1
        if ((place & (width - 1)) == 0) {
          run += 1
          if (run < runsInOrder.length) {
            place = (runsInOrder(run) & mask).toInt * width
            touchRun(place)
          }
        }
      } while (run < runsInOrder.length && states(place) == 0)
      run < runsInOrder.length
    }

    def group: Int = (slots(2 * runAt(place >> widthBits) + 1) >>> 32).toInt
    def pane: Long =
      (slots(2 * runAt(place >> widthBits)) << widthBits) + (place & (width - 1))

    /** The state of the current pane, in a reused row. */
    def state: UnsafeRow = stateOf(states(place) - 1)
  }

  private def inOrder: Array[Long] = {
    var (last, least, most) = (0L, Long.MaxValue, Long.MinValue)
    var run = 0
    while (run < runs) {
      val at = 2 * runAt(run)
      last = math.max(last, slots(at + 1) >>> 32)
      least = math.min(least, slots(at))
      most = math.max(most, slots(at))
      run += 1
    }
    // A run's first pane is divided by 16 here, so a difference cannot overflow.
    val placeBits = bitsOf(most - least)
    val fits = runs > 0 && bitsOf(last) + placeBits + runBits < 64
    val order = new Array[Long](runs)
    run = 0
    while (run < runs) {
      val at = 2 * runAt(run)
      order(run) =
        if (!fits) run.toLong
        else (((slots(at + 1) >>> 32 << placeBits) | (slots(at) - least)) << runBits) | run
      run += 1
    }
    if (fits) Arrays.sort(order)
    order
  }

  def clear(): Unit = {
    slots = new Array[Long](4 * initialRuns)
    runs = 0
    runAt = new Array[Int](initialRuns)
    states = new Array[Int](initialRuns * width)
    pages = new Array[Array[Byte]](8)
    pagesHeld = 0
    count = 0
  }

  /** Reads all states of a run in one loop, so that the reads, which are scattered, overlap. */
  private def touchRun(first: Int): Unit = {
    var sum = 0L
    var place = first
    while (place < first + width) {
      val number = states(place) - 1
      if (number >= 0) sum += pages(number >> pageBits)((number & inPage) * stride)
      place += 1
    }
    touched += sum
  }

  private def slotOf(group: Int, first: Long): Int =
    hash(group, first) & (slots.length / 2 - 1)

  private def runOf(group: Int, first: Long): Int = {
    val mask = slots.length / 2 - 1
    var at = slotOf(group, first)
    var held = slots(2 * at + 1)
    while (held != 0L && !((held >>> 32) == group && slots(2 * at) == first)) {
      at = (at + 1) & mask
      held = slots(2 * at + 1)
    }
    if (held != 0L) held.toInt - 1
    else {
      slots(2 * at) = first
      slots(2 * at + 1) = (group.toLong << 32) | (runs + 1)
      runAt(runs) = at
      runs += 1
      runs - 1
    }
  }

  private def add(place: Int): Int = {
    val number = count
    count += 1
    states(place) = count
    Platform.copyMemory(
      empty.getBaseObject,
      empty.getBaseOffset,
      pages(number >> pageBits),
      Platform.BYTE_ARRAY_OFFSET + (number & inPage).toLong * stride,
      stateBytes.toLong)
    number
  }

  /** Ensures room for `batchSize` new panes. */
  private def makeRoom(): Unit = {
    if (runs + batch > runAt.length) grow()
    var more = pagesFor(count + batchSize)
    while (more > 0) {
      if (pagesHeld == pages.length) pages = Arrays.copyOf(pages, pagesHeld * 2)
      pages(pagesHeld) = new Array[Byte](stride << pageBits)
      pagesHeld += 1
      more -= 1
    }
  }

  /** The number of pages to add for this many states. */
  private def pagesFor(states: Int): Int =
    math.max(0, ((states + inPage) >> pageBits) - pagesHeld)

  private def grow(): Unit = {
    val old = slots
    slots = new Array[Long](old.length * 2)
    states = Arrays.copyOf(states, states.length * 2)
    val before = runAt
    runAt = new Array[Int](before.length * 2)
    val mask = slots.length / 2 - 1
    var run = 0
    while (run < runs) {
      val (first, held) = (old(2 * before(run)), old(2 * before(run) + 1))
      var at = slotOf((held >>> 32).toInt, first)
      while (slots(2 * at + 1) != 0L) at = (at + 1) & mask
      slots(2 * at) = first
      slots(2 * at + 1) = held
      runAt(run) = at
      run += 1
    }
  }
}

private[panes] object PaneTable {

  /** The largest number of panes in one lookup. */
  val batch = 64

  private val largeBatch = 4 << 20 // bytes

  private val widthBits = 4
  private val width = 1 << widthBits
  private val initialRuns = 2 * batch
  private val runBytes = 4L + 4L * width + 8L // its slot, its state numbers, its word in a cursor
  private val runBits = 26
  private val mostRuns = 1 << runBits // the array of state numbers has `width` for each
  private val pageBytes = 1 << 18

  private def bitsOf(number: Long): Int = 64 - java.lang.Long.numberOfLeadingZeros(number)

  /** Fibonacci hashing: every bit of the factors affects the upper half of the product. */
  private def hash(group: Int, first: Long): Int = {
    val product = (first * 0x9e3779b97f4a7c15L + group) * 0xbf58476d1ce4e5b9L
    (product >>> 32).toInt
  }
}

package io.firesteel.panes

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * The states of panes of many groups, found by group and pane.
 *
 * Sixteen panes next to each other are a *run*, one cache line of state numbers. Rows mostly come to
 * panes near those of other rows, so that runs are few. Panes are asked for some at a time: the
 * table is larger than the processor's cache, and reads that do not wait for each other take a
 * fraction of the time.
 *
 * Memory: 32 to 64 bytes a run for its slots, 84 for itself, and the states, none of which moves.
 *
 * @param empty the state of no rows; all states are of its size
 */
private[panes] final class PaneTable(empty: UnsafeRow) {
  import PaneTable._

  private[this] val stateBytes = empty.getSizeInBytes
  private[this] val stride = math.max(8, stateBytes) // without functions a state is nothing
  private[this] val pageBits = 31 - Integer.numberOfLeadingZeros(math.max(1, pageBytes / stride))
  private[this] val inPage = (1 << pageBits) - 1

  // For each run the number of its first pane / 16; and its group, shifted, + its number + 1, or 0.
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

  /** How many bytes more the next `batch` panes take, if all are new; too many for a full table. */
  def growth: Long = {
    val ofRuns =
      if (runs + batch <= runAt.length) 0L
      else if (runAt.length >= mostRuns) Long.MaxValue >> 2
      else runAt.length * (2 * runBytes + 64L)
    ofRuns + pagesFor(count + batch) * (stride.toLong << pageBits)
  }

  /**
   * Finds the states of panes, new ones for those that have none.
   *
   * @param number how many, at most `batch`
   * @param found where to put the number of each state
   */
  def find(number: Int, groups: Array[Int], panes: Array[Long], found: Array[Int]): Unit = {
    makeRoom()
    // Reads of one loop overlap; `touched` keeps the compiler from leaving out those of no use.
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

  /** The state of this number, in a row that is used again. */
  def stateOf(number: Int): UnsafeRow = {
    state.pointTo(
      pages(number >> pageBits),
      Platform.BYTE_ARRAY_OFFSET + (number & inPage).toLong * stride,
      stateBytes)
    state
  }

  /** A way through the panes as they are now; it ends where the table changes. */
  def cursor: Cursor = new Cursor(inOrder)

  /**
   * Goes through the panes, each once: group by group and in the order of panes, wherever a run's
   * group, place and number fit a word together; that is a favour to those who sort or look up what
   * comes out, and nothing else rests on it.
   *
   * @param runsInOrder each with its number in the lowest `runBits`
   */
  final class Cursor private[PaneTable] (runsInOrder: Array[Long]) {
    private[this] val mask = (1L << runBits) - 1
    private[this] var run = -1
    private[this] var place = width - 1

    /** Goes on to the next pane; false when there is none. */
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

    /** Its state, in a row that is used again. */
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
    // Numbers of runs are those of panes without their lowest bits: a difference cannot wrap.
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

  /** Reads the states of a run, which lie anywhere, so that these reads overlap. */
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

  /** Room for `batch` new panes. */
  private def makeRoom(): Unit = {
    if (runs + batch > runAt.length) grow()
    var more = pagesFor(count + batch)
    while (more > 0) {
      if (pagesHeld == pages.length) pages = Arrays.copyOf(pages, pagesHeld * 2)
      pages(pagesHeld) = new Array[Byte](stride << pageBits)
      pagesHeld += 1
      more -= 1
    }
  }

  /** Pages that are missing for so many states. */
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

  /** Most panes to be asked for at a time. */
  val batch = 64

  private val widthBits = 4
  private val width = 1 << widthBits
  private val initialRuns = 2 * batch
  private val runBytes = 4L + 4L * width + 8L // its slot, its panes, its word in a cursor
  private val runBits = 26
  private val mostRuns = 1 << runBits // of which each has `width` numbers in an array
  private val pageBytes = 1 << 18

  private def bitsOf(number: Long): Int = 64 - java.lang.Long.numberOfLeadingZeros(number)

  /** Fibonacci hashing: the upper half of a product is mixed by every bit of its factors. */
  private def hash(group: Int, first: Long): Int = {
    val product = (first * 0x9e3779b97f4a7c15L + group) * 0xbf58476d1ce4e5b9L
    (product >>> 32).toInt
  }
}

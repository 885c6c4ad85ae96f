package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * `ROW_NUMBER() <= limit`: a binary heap whose top is the worst row kept; with a limit of 1, one
 * row.
 *
 * Memory: `limit` rows per key. Cost of an offer: O(log limit) comparisons when the row is kept,
 * one when it is not.
 */
private[rank] class FirstRows(
    arena: RowArena,
    order: RowOrder,
    limit: Int,
    rows: StoredRows)
  extends KeptRows(arena, rows, order) {

  def this(arena: RowArena, order: RowOrder, limit: Int) =
    this(arena, order, limit, new StoredRows(arena, linked = false))

  /** Whether a row equal to the worst one must be offered too. */
  protected def tiesMatter: Boolean = false

  override def offer(group: Long, prefix: Long, row: UnsafeRow): Int =
    if (sizeOf(group) < limit) add(group, prefix, row)
    else {
      val slots = slotsOf(group)
      val againstWorst = compareTo(prefixAt(slots, 0), rowAt(slots, 0), prefix, row)
      if (againstWorst > 0) replaceWorst(group, slots, prefix, row)
      else if (againstWorst == 0) offerTie(group, row)
      else 0
    }

  /** A row equal to the worst of a full heap. `ROW_NUMBER` may drop either of the two. */
  protected def offerTie(group: Long, row: UnsafeRow): Int = 0

  /** Replaces the worst row by a better one. */
  protected def replaceWorst(group: Long, slots: Long, prefix: Long, row: UnsafeRow): Int = {
    siftDown(slots, limit, prefix, rows.replace(rowAt(slots, 0), row))
    setBar(group, bar(prefixAt(slots, 0), tiesMatter))
    0
  }

  private def add(group: Long, prefix: Long, row: UnsafeRow): Int = {
    val slots = ensureSlot(group, limit)
    val size = sizeOf(group)
    siftUp(slots, size, prefix, rows.store(row))
    setSize(group, size + 1)
    if (size + 1 == limit) setBar(group, bar(prefixAt(slots, 0), tiesMatter))
    1
  }

  private def siftUp(slots: Long, last: Int, prefix: Long, row: Long): Unit = {
    var at = last
    var parent = (at - 1) >>> 1
    while (at > 0 && compare(prefixAt(slots, parent), rowAt(slots, parent), prefix, row) < 0) {
      setSlot(slots, at, prefixAt(slots, parent), rowAt(slots, parent))
      at = parent
      parent = (at - 1) >>> 1
    }
    setSlot(slots, at, prefix, row)
  }

  /** Places a row from the top of the first `count` slots downwards. */
  protected final def siftDown(slots: Long, count: Int, prefix: Long, row: Long): Unit = {
    var at = 0
    var child = 1
    var placed = false
    while (!placed && child < count) {
      val other = child + 1
      if (other < count && compareSlots(slots, other, child) > 0) child = other
      if (compare(prefixAt(slots, child), rowAt(slots, child), prefix, row) > 0) {
        setSlot(slots, at, prefixAt(slots, child), rowAt(slots, child))
        at = child
        child = 2 * at + 1
      } else placed = true
    }
    setSlot(slots, at, prefix, row)
  }

  private def compareSlots(slots: Long, i: Int, j: Int): Int =
    compare(prefixAt(slots, i), rowAt(slots, i), prefixAt(slots, j), rowAt(slots, j))

  /** Heap sort: moves the worst row to the end, then the worst of the rest. */
  override def sort(group: Long): Unit = {
    val slots = slotsOf(group)
    var last = sizeOf(group) - 1
    while (last > 0) {
      val worstPrefix = prefixAt(slots, 0)
      val worst = rowAt(slots, 0)
      siftDown(slots, last, prefixAt(slots, last), rowAt(slots, last))
      setSlot(slots, last, worstPrefix, worst)
      last -= 1
    }
  }

  /** The rows beside the heap, equal to its worst. */
  protected def tiesOf(group: Long): Long = 0L

  override def read(group: Long): KeptCursor = new KeptCursor {
    private[this] val slots = slotsOf(group)
    private[this] val size = sizeOf(group)
    private[this] var at = -1
    private[this] var beside = tiesOf(group)

    override def next(): Long = {
      at += 1
      if (at < size) rowAt(slots, at)
      else {
        val row = beside
        if (row != 0L) beside = rows.next(row)
        row
      }
    }

    override def tie: Boolean =
      at > 0 && (at >= size || compareSlots(slots, at - 1, at) == 0)
  }
}

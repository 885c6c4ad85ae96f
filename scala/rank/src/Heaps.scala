package io.firesteel.rank

import io.firesteel.core.rows.MemoryBudget
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The rows kept of all keys seen so far, within a memory budget.
 *
 * Offering a row takes two calls, so that a caller need not build the row of the many that are
 * not wanted: `admits(key, prefix)`, and only if that is true `add(row)`.
 *
 * The budget is asked for twice what is held, because whoever takes the rows out copies them before
 * the heaps can let go of theirs. In return all of it is given back when reading begins: a task that
 * holds more than its fair share, which shrinks as other tasks start, is granted nothing more, not
 * even a sorter's first page.
 */
private[rank] final class Heaps(
    bound: RankBound,
    val order: RowOrder,
    budget: MemoryBudget) {

  private[this] val arena = new RowArena
  private[this] val table = new KeyTable(arena)
  private[this] val kept = KeptRows.of(bound, arena, order)
  private[this] var rowCount: Long = 0L
  private[this] var group: Long = 0L
  private[this] var prefix: Long = 0L
  private[this] var held: Long = 0L

  /** Rows kept. */
  def size: Long = rowCount

  /** Keys seen. */
  def keys: Int = table.size

  /** Whether a row of `key` with this prefix may have to be kept. */
  def admits(key: UnsafeRow, itsPrefix: Long): Boolean = {
    group = table.groupOf(key)
    prefix = itsPrefix
    itsPrefix <= arena.getLong(group + Group.bar)
  }

  /** The same for a key that is one whole number. Ask either by rows or by numbers, not by both. */
  def admits(number: Long, isNull: Boolean, itsPrefix: Long): Boolean = {
    group = table.groupOf(number, isNull)
    prefix = itsPrefix
    itsPrefix <= arena.getLong(group + Group.bar)
  }

  /**
   * Offers the row asked about last. False when the budget refuses what is now held: the caller
   * must then empty the heaps. The row itself is not lost: it is among those held.
   */
  def add(row: UnsafeRow): Boolean = {
    rowCount += kept.offer(group, prefix, row)
    val total = (arena.bytes + table.bytes) * 2
    if (total <= held) true
    else {
      held = total
      budget.hold(total)
    }
  }

  /**
   * Reads every row, key by key, and gives the memory back to whoever takes them. The heaps may be
   * offered rows again after `clear`.
   *
   * @param sorted whether the rows of a key are to come in order
   */
  def read(sorted: Boolean): HeapReader = {
    budget.releaseTo(0L)
    new HeapReader(table.firstGroup, arena, kept, order, sorted)
  }

  /** Empties the heaps and gives all memory back. */
  def clear(): Unit = {
    table.clear()
    arena.clear()
    rowCount = 0L
    held = 0L
    budget.releaseTo(0L)
  }
}

/** The rows of [[Heaps]], key by key. */
private[rank] final class HeapReader(
    firstGroup: Long,
    arena: RowArena,
    kept: KeptRows,
    order: RowOrder,
    sorted: Boolean) {

  private[this] var group = firstGroup // the one to read next
  private[this] var cursor: KeptCursor = _
  private[this] var first = false

  /** The row moved to, valid until the next move. */
  val row: UnsafeRow = order.newPointer()

  /** Whether the row moved to is the first of its key. */
  def isFirst: Boolean = first

  /** Whether the row moved to is equal, in order, to the one before it; only when sorted. */
  def tie: Boolean = cursor.tie

  /** Moves to the next row; false at the end. */
  def advance(): Boolean = {
    var address = if (cursor == null) 0L else cursor.next()
    first = false
    while (address == 0L && group != 0L) {
      if (sorted) kept.sort(group)
      cursor = kept.read(group)
      address = cursor.next()
      group = arena.getLong(group + Group.next)
      first = true
    }
    if (address != 0L) kept.point(address, row)
    address != 0L
  }
}

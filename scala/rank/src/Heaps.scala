package io.firesteel.rank

import io.firesteel.core.rows.MemoryBudget
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The kept rows of all keys so far, within a memory budget.
 *
 * Offering a row takes two calls: `admits(key, prefix)`, and `add(row)` if that is true. So a
 * caller does not build the many rows that are dropped.
 *
 * The heaps reserve twice the memory that they hold, because the reader copies rows before the
 * heaps can free theirs. They release the whole reservation when reading begins. Reason: Spark
 * grants nothing, not even a sorter's first page, to a task above its fair share, and that share
 * shrinks when other tasks start.
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

  /** The same for a key that is one whole number. A caller uses rows or numbers, never both. */
  def admits(number: Long, isNull: Boolean, itsPrefix: Long): Boolean = {
    group = table.groupOf(number, isNull)
    prefix = itsPrefix
    itsPrefix <= arena.getLong(group + Group.bar)
  }

  /**
   * Offers the row that was admitted last. False when the budget refuses the memory. The row is
   * kept in that case too, and the caller must then empty the heaps.
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
   * Reads every row, key by key, and releases the reserved memory for the reader. Call `clear`
   * before rows are offered again.
   *
   * @param sorted whether the rows of a key are read in order
   */
  def read(sorted: Boolean): HeapReader = {
    budget.releaseTo(0L)
    new HeapReader(table.firstGroup, arena, kept, order, sorted)
  }

  /** Empties the heaps and releases all memory. */
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

  /** The current row, valid until the next move. */
  val row: UnsafeRow = order.newPointer()

  /** Whether the current row is the first of its key. */
  def isFirst: Boolean = first

  /** Whether the current row equals the one before it in every order key; only when sorted. */
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

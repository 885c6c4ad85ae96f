package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Keeps, for each key, the rows that may still satisfy a [[RankBound]].
 *
 * The kept rows of a key always contain the answer over the rows offered so far, and are exactly
 * the answer after all rows have been offered. One instance serves every key. A key's state is its
 * [[Group]] record in the arena.
 */
private[rank] abstract class KeptRows(
    arena: RowArena,
    rows: StoredRows,
    order: RowOrder) {

  private[this] val left = order.newPointer()
  private[this] val right = order.newPointer()

  /** Offers a row and copies it if it is kept. Returns the change in the number of kept rows. */
  def offer(group: Long, prefix: Long, row: UnsafeRow): Int

  /** Puts the rows of a group in order. Nothing may be offered to it afterwards. */
  def sort(group: Long): Unit

  /** Reads the rows of a group. */
  def read(group: Long): KeptCursor

  /** Makes `pointer` show a row that a cursor gave. */
  final def point(row: Long, pointer: UnsafeRow): Unit = rows.point(row, pointer)

  /** Negative, zero or positive if the kept row `a` sorts before, with or after the row `b`. */
  protected final def compareTo(aPrefix: Long, a: Long, bPrefix: Long, b: UnsafeRow): Int =
    if (aPrefix != bPrefix) {
      if (aPrefix < bPrefix) -1 else 1
    } else if (order.decides(aPrefix)) 0
    else {
      rows.point(a, left)
      order.compareRows(left, b)
    }

  /** The same for two kept rows. */
  protected final def compare(aPrefix: Long, a: Long, bPrefix: Long, b: Long): Int =
    if (aPrefix != bPrefix) {
      if (aPrefix < bPrefix) -1 else 1
    } else if (order.decides(aPrefix)) 0
    else {
      rows.point(b, right)
      compareTo(aPrefix, a, bPrefix, right)
    }

  /**
   * The largest prefix of a row that may be kept, if `worst` is the prefix of the worst kept row.
   */
  protected final def bar(worst: Long, tiesMatter: Boolean): Long =
    if (!tiesMatter && order.decides(worst) && worst != Long.MinValue) worst - 1 else worst

  protected final def sizeOf(group: Long): Int = arena.getInt(group + Group.size)

  protected final def slotsOf(group: Long): Long = arena.getLong(group + Group.slots)

  protected final def prefixAt(slots: Long, i: Int): Long =
    arena.getLong(slots + i.toLong * Group.slotBytes)

  protected final def rowAt(slots: Long, i: Int): Long =
    arena.getLong(slots + i.toLong * Group.slotBytes + 8)

  protected final def setSlot(slots: Long, i: Int, prefix: Long, row: Long): Unit = {
    val base = arena.base(slots)
    val offset = arena.offset(slots) + i.toLong * Group.slotBytes
    Platform.putLong(base, offset, prefix)
    Platform.putLong(base, offset + 8, row)
  }

  protected final def setSize(group: Long, size: Int): Unit =
    arena.putInt(group + Group.size, size)

  protected final def setBar(group: Long, bar: Long): Unit =
    arena.putLong(group + Group.bar, bar)

  /** Ensures room for one more slot. Returns the slots' address. */
  protected final def ensureSlot(group: Long, limit: Int): Long = {
    val size = sizeOf(group)
    val capacity = arena.getInt(group + Group.capacity)
    val slots = slotsOf(group)
    if (size < capacity) slots
    else {
      val larger = math.min(limit.toLong, math.max(4L, capacity * 2L)).toInt
      val moved = arena.allocate(larger * Group.slotBytes)
      Platform.copyMemory(
        arena.base(slots),
        arena.offset(slots),
        arena.base(moved),
        arena.offset(moved),
        size.toLong * Group.slotBytes)
      if (slots != group + Group.firstSlot) arena.release(slots, capacity * Group.slotBytes)
      arena.putLong(group + Group.slots, moved)
      arena.putInt(group + Group.capacity, larger)
      moved
    }
  }
}

private[rank] object KeptRows {

  def of(bound: RankBound, arena: RowArena, order: RowOrder): KeptRows = bound match {
    case RankBound(RankFunction.RowNumbers, n) => new FirstRows(arena, order, n)
    // With n = 1 the two functions keep the same rows, and a heap of one is cheaper.
    case RankBound(RankFunction.DenseRanks, 1) => new FirstRowsWithTies(arena, order, 1)
    case RankBound(RankFunction.Ranks, n) => new FirstRowsWithTies(arena, order, n)
    case RankBound(RankFunction.DenseRanks, n) => new FirstValues(arena, order, n)
  }
}

/** Iterates over the rows of a group. */
private[rank] trait KeptCursor {

  /** The next row's address, or 0 at the end. */
  def next(): Long

  /** After sorting: whether the row equals the one before it in every order key. */
  def tie: Boolean
}

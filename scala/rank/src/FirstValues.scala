package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * `DENSE_RANK() <= limit`: every row whose order value is among the first `limit` distinct ones.
 *
 * Each distinct value has a slot with a list of its rows, and slots are sorted. A binary search
 * finds a value. A new value moves at most `limit` slots.
 *
 * Memory: the rows of `limit` values per key. They are unbounded, so the owner checks the bytes.
 */
private[rank] final class FirstValues(
    arena: RowArena,
    order: RowOrder,
    limit: Int,
    rows: StoredRows)
  extends KeptRows(arena, rows, order) {

  def this(arena: RowArena, order: RowOrder, limit: Int) =
    this(arena, order, limit, new StoredRows(arena, linked = true))

  override def offer(group: Long, prefix: Long, row: UnsafeRow): Int = {
    val found = search(group, prefix, row)
    if (found >= 0) addTo(slotsOf(group), found, row)
    else {
      val at = -(found + 1)
      if (at == limit) 0 else insert(group, at, prefix, row)
    }
  }

  /** The index of the row's value; for a new value `-(index + 1)` of its insertion point. */
  private def search(group: Long, prefix: Long, row: UnsafeRow): Int = {
    val slots = slotsOf(group)
    var low = 0
    var high = sizeOf(group) - 1
    var found = -1
    while (found < 0 && low <= high) {
      val middle = (low + high) >>> 1
      val c = compareTo(prefixAt(slots, middle), rowAt(slots, middle), prefix, row)
      if (c < 0) low = middle + 1
      else if (c > 0) high = middle - 1
      else found = middle
    }
    if (found >= 0) found else -(low + 1)
  }

  private def addTo(slots: Long, at: Int, row: UnsafeRow): Int = {
    val stored = rows.store(row)
    rows.link(stored, rowAt(slots, at))
    setSlot(slots, at, prefixAt(slots, at), stored)
    1
  }

  private def insert(group: Long, at: Int, prefix: Long, row: UnsafeRow): Int = {
    val dropped = if (sizeOf(group) == limit) dropLast(group) else 0
    val slots = ensureSlot(group, limit)
    val size = sizeOf(group)
    val base = arena.base(slots)
    val from = arena.offset(slots) + at.toLong * Group.slotBytes
    // `copyMemory` copies backwards if source and target overlap like this.
    Platform.copyMemory(
      base,
      from,
      base,
      from + Group.slotBytes,
      (size - at).toLong * Group.slotBytes)
    setSlot(slots, at, prefix, rows.store(row))
    setSize(group, size + 1)
    if (size + 1 == limit) setBar(group, bar(prefixAt(slots, size), tiesMatter = true))
    1 - dropped
  }

  private def dropLast(group: Long): Int = {
    val last = sizeOf(group) - 1
    setSize(group, last)
    rows.releaseAll(rowAt(slotsOf(group), last))
  }

  /** Nothing to do: values are always in order. */
  override def sort(group: Long): Unit = ()

  override def read(group: Long): KeptCursor = new KeptCursor {
    private[this] val slots = slotsOf(group)
    private[this] val size = sizeOf(group)
    private[this] var at = -1
    private[this] var row = 0L
    private[this] var sameValue = false

    override def next(): Long = {
      if (row != 0L) row = rows.next(row)
      sameValue = row != 0L
      if (row == 0L && at + 1 < size) {
        at += 1
        row = rowAt(slots, at)
      }
      row
    }

    override def tie: Boolean = sameValue
  }
}

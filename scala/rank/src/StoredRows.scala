package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Stores copies of binary rows in an arena, by address.
 *
 * A copy is `[size: 8 bytes][next: 8 bytes, if linked][row]`.
 *
 * @param linked whether a row can link to a next one, as ties do
 */
private[rank] final class StoredRows(arena: RowArena, linked: Boolean) {

  private[this] val header = if (linked) 16 else 8

  /** Copies a row. Returns the address of the copy. */
  def store(row: UnsafeRow): Long = {
    val size = row.getSizeInBytes
    val address = arena.allocate(header + size)
    write(address, row, size)
    address
  }

  /** Replaces a row by a copy of another, in place if it fits. Returns the new address. */
  def replace(address: Long, row: UnsafeRow): Long = {
    val size = row.getSizeInBytes
    val old = arena.getInt(address)
    if (size == old || RowArena.classOf(header + size) == RowArena.classOf(header + old)) {
      write(address, row, size)
      address
    } else {
      arena.release(address, header + old)
      store(row)
    }
  }

  def release(address: Long): Unit = arena.release(address, header + arena.getInt(address))

  /** Releases a row and all rows linked after it. Returns their number. */
  def releaseAll(first: Long): Int = {
    var at = first
    var count = 0
    while (at != 0L) {
      val following = next(at)
      release(at)
      at = following
      count += 1
    }
    count
  }

  /** The row linked to this one, or 0. */
  def next(address: Long): Long = if (linked) arena.getLong(address + 8) else 0L

  def link(address: Long, following: Long): Unit = arena.putLong(address + 8, following)

  /** Points `pointer` to the row. It is valid until the row is released or replaced. */
  def point(address: Long, pointer: UnsafeRow): Unit =
    pointer.pointTo(arena.base(address), arena.offset(address) + header, arena.getInt(address))

  private def write(address: Long, row: UnsafeRow, size: Int): Unit = {
    val base = arena.base(address)
    val offset = arena.offset(address)
    Platform.putInt(base, offset, size)
    if (linked) Platform.putLong(base, offset + 8, 0L)
    Platform.copyMemory(
      row.getBaseObject,
      row.getBaseOffset,
      base,
      offset + header,
      size.toLong)
  }
}

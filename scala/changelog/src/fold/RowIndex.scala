package io.firesteel.changelog.fold

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.hash.Murmur3_x86_32

/**
 * Places of rows in an array. Most keys have a row or two, for which a scan is faster and
 * smaller than a hash table; an array of more than a few gets one. A row of hundreds of bytes takes
 * longer to hash than to use, so its hash is kept.
 */
final private[changelog] class RowIndex {
  import RowIndex._

  private[this] var rows = new Array[UnsafeRow](2)
  private[this] var hashes: Array[Int] = _ // once rows are not scanned
  private[this] var table: Array[Int] = _ // places by hash, one more than they are; 0 where none is

  var size: Int = 0

  def row(at: Int): UnsafeRow = rows(at)

  def hashOf(at: Int): Int = if (hashes == null) hash(rows(at)) else hashes(at)

  /** The place of a row; -1 if it is not there. */
  def indexOf(row: UnsafeRow): Int =
    if (table == null) {
      var i = size - 1
      while (i >= 0 && !rows(i).equals(row)) i -= 1
      i
    } else table(slotOf(row, hash(row))) - 1

  /** The place of a row, which is added if it is not there. */
  def placeOf(row: UnsafeRow, copied: Boolean): Int = {
    val its = if (table == null) 0 else hash(row)
    val at = if (table == null) indexOf(row) else table(slotOf(row, its)) - 1
    if (at >= 0) at
    else {
      append(if (copied) row.copy() else row)
      if (table != null) {
        if (size > hashes.length) grow()
        hashes(size - 1) = its
        table(slotOf(row, its)) = size
      } else if (size > scanned) {
        hashes = Array.tabulate(2 * size)(i => if (i < size) hash(rows(i)) else 0)
        fill()
      }
      size - 1
    }
  }

  /** Adds a row that is not looked for; it is not copied. */
  def append(row: UnsafeRow): Unit = {
    if (size == rows.length) rows = Arrays.copyOf(rows, 2 * size)
    rows(size) = row
    size += 1
  }

  private def grow(): Unit = {
    hashes = Arrays.copyOf(hashes, 2 * hashes.length)
    size -= 1
    fill()
    size += 1
  }

  /** A table of which at most half is taken. */
  private def fill(): Unit = {
    table = new Array[Int](Integer.highestOneBit(hashes.length) * 4)
    var i = 0
    while (i < size) {
      table(slotOf(rows(i), hashes(i))) = i + 1
      i += 1
    }
  }

  /** Where a row is in the table, or would be. */
  private def slotOf(row: UnsafeRow, hash: Int): Int = {
    val mask = table.length - 1
    var slot = hash & mask
    while (table(slot) != 0 &&
      !(hashes(table(slot) - 1) == hash && rows(table(slot) - 1).equals(row))) {
      slot = (slot + 1) & mask
    }
    slot
  }
}

private[changelog] object RowIndex {

  /** Rows that are scanned. */
  private val scanned: Int = 8

  /** The hash of a row, as in the buckets of the state of a join. */
  def hash(row: UnsafeRow): Int =
    Murmur3_x86_32.hashUnsafeWords(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes, seed)

  /** In checkpoints: it must stay as it is. */
  private val seed = 42
}

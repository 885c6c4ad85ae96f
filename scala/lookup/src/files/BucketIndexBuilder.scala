package io.firesteel.lookup.files

import java.util.Arrays

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.hash.Murmur3_x86_32

/**
 * Packs rows into pages, and builds the table at the end, when their number is known.
 *
 * It reserves memory before it allocates. Pages grow from 64 KiB to 4 MiB; the last is cut to size.
 */
private[files] final class BucketIndexBuilder(memory: StorageMemory) {
  import BucketIndexBuilder._

  private[this] val pages = new ArrayBuffer[Array[Byte]]
  private[this] val used = new ArrayBuffer[Int] // bytes used of each page
  private[this] var rows: Long = 0L

  def add(key: UnsafeRow, row: UnsafeRow): Unit = {
    val (keySize, rowSize) = (key.getSizeInBytes, row.getSizeInBytes)
    val size = Math.addExact(Math.addExact(keySize, rowSize), Record.key.toInt)
    if (pages.isEmpty || pages.last.length - used.last < size) addPage(size)
    val (page, offset) = (pages.last, used.last + Platform.BYTE_ARRAY_OFFSET.toLong)
    Platform.putInt(page, offset + Record.keySize, keySize)
    Platform.putInt(page, offset + Record.rowSize, rowSize)
    copy(key, page, offset + Record.key)
    copy(row, page, offset + Record.key + keySize)
    used(used.length - 1) += size
    rows += 1
  }

  def result(): BucketIndex = {
    if (pages.nonEmpty) cutLastPage()
    val slots = slotsFor(rows)
    memory.take(slots * 8L)
    val table = new Array[Long](slots)
    Arrays.fill(table, Record.none)
    pages.indices.foreach(hangIn(_, table))
    new BucketIndex(pages.toArray, table, rows, Some(memory))
  }

  private def hangIn(page: Int, table: Array[Long]): Unit = {
    val (base, end) = (pages(page), used(page))
    var at = 0
    while (at < end) {
      val offset = at + Platform.BYTE_ARRAY_OFFSET.toLong
      val keySize = Platform.getInt(base, offset + Record.keySize)
      val slot = hash(base, offset + Record.key, keySize) & (table.length - 1)
      Platform.putLong(base, offset, table(slot))
      table(slot) = Record.address(page, at)
      at += Record.key.toInt + keySize + Platform.getInt(base, offset + Record.rowSize)
    }
  }

  private def addPage(atLeast: Int): Unit = {
    val size = math.max(math.min(firstPage << math.min(pages.length, 6), largestPage), atLeast)
    memory.take(size.toLong)
    pages += new Array[Byte](size)
    used += 0
  }

  private def cutLastPage(): Unit = {
    val spare = pages.last.length - used.last
    pages(pages.length - 1) = Arrays.copyOf(pages.last, used.last)
    memory.giveBack(spare.toLong)
  }

  private def copy(row: UnsafeRow, page: Array[Byte], offset: Long): Unit =
    Platform.copyMemory(
      row.getBaseObject,
      row.getBaseOffset,
      page,
      offset,
      row.getSizeInBytes.toLong)
}

private[files] object BucketIndexBuilder {
  private val firstPage: Int = 64 << 10
  private val largestPage: Int = 4 << 20
  private val mostSlots: Int = 1 << 30

  /** A power of two, at least the number of rows as far as an array can have that length. */
  def slotsFor(rows: Long): Int =
    if (rows >= mostSlots) mostSlots
    else if (rows <= 1) 1
    else Integer.highestOneBit(rows.toInt - 1) << 1

  /** As `UnsafeRow.hashCode`. */
  private def hash(base: AnyRef, offset: Long, size: Int): Int =
    Murmur3_x86_32.hashUnsafeWords(base, offset, size, 42)
}

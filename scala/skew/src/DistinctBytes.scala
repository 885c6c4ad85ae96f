package io.firesteel.skew

import java.util.Arrays

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods

/**
 * The distinct pairs of a group and some bytes.
 *
 * Like [[DistinctNumbers]] it has a salt.
 *
 * Memory: an open-addressing table, at least a third of it free, with 8 bytes a slot. Each pair
 * takes its bytes and 16 more, rounded up to a multiple of 8.
 */
private[skew] final class DistinctBytes(groupHash: Int => Int, salt: Long) extends DistinctValues {
  import DistinctBytes._

  // A slot holds the address of its pair + 1. The pairs are stored in pages.
  private[this] var bits = initialBits
  private[this] var slots = new Array[Long](1 << bits)
  private[this] var pages = Array.empty[Array[Byte]]
  private[this] var pageCount = 0
  private[this] var end = 0 // end of the data in the last page
  private[this] var pageBytes = 0L
  private[this] var count = 0

  override def size: Int = count

  override def bytes: Long = slots.length * 8L + pageBytes

  /** At its largest size, a number that no budget grants. */
  override def growth: Long =
    if (count * 3L <= slots.length * 2L) 0L
    else if (bits >= 30) Long.MaxValue >> 2
    else slots.length * 16L

  /**
   * Adds a pair and returns whether it is new.
   *
   * @param hash of the value
   */
  def add(group: Int, base: AnyRef, offset: Long, length: Int, hash: Long): Boolean = {
    val mask = slots.length - 1
    var at = slot(group, hash)
    while (slots(at) != 0L && !same(slots(at) - 1L, group, base, offset, length, hash))
      at = (at + 1) & mask
    if (slots(at) != 0L) false
    else {
      slots(at) = write(group, base, offset, length, hash) + 1L
      count += 1
      true
    }
  }

  private def slot(group: Int, hash: Long): Int =
    Hashes.slot(Hashes.ofPair(groupHash(group), hash) ^ salt, bits)

  private def same(
      pair: Long,
      group: Int,
      base: AnyRef,
      offset: Long,
      length: Int,
      hash: Long): Boolean = {
    val page = pages((pair >>> 32).toInt)
    val place = placeOf(pair)
    Platform.getLong(page, place) == hash &&
    Platform.getInt(page, place + 8) == group &&
    Platform.getInt(page, place + 12) == length &&
    ByteArrayMethods.arrayEquals(page, place + header, base, offset, length.toLong)
  }

  private def write(group: Int, base: AnyRef, offset: Long, length: Int, hash: Long): Long = {
    val needed = header + length
    if (pageCount == 0 || end + needed > pages(pageCount - 1).length) addPage(needed)
    val page = pages(pageCount - 1)
    val place = Platform.BYTE_ARRAY_OFFSET + end.toLong
    Platform.putLong(page, place, hash)
    Platform.putInt(page, place + 8, group)
    Platform.putInt(page, place + 12, length)
    Platform.copyMemory(base, offset, page, place + header, length.toLong)
    val pair = ((pageCount - 1L) << 32) + end
    end += (needed + 7) & ~7
    pair
  }

  private def addPage(needed: Int): Unit = {
    val size = math.max(firstPage << math.min(pageCount, 6), needed)
    if (pageCount == pages.length)
      pages = Arrays.copyOf(pages, math.max(4, pageCount * 2))
    pages(pageCount) = new Array[Byte](size)
    pageCount += 1
    pageBytes += size
    end = 0
  }

  override def grow(): Unit = {
    val old = slots
    bits += 1
    slots = new Array[Long](1 << bits)
    val mask = slots.length - 1
    old.foreach { pair =>
      if (pair != 0L) {
        val page = pages(((pair - 1L) >>> 32).toInt)
        val place = placeOf(pair - 1L)
        var at = slot(Platform.getInt(page, place + 8), Platform.getLong(page, place))
        while (slots(at) != 0L) at = (at + 1) & mask
        slots(at) = pair
      }
    }
  }

  override def drain(column: Int, writer: BlockWriter, from: Int): Int = {
    val until = math.min(from + DistinctValues.someSlots, slots.length)
    var at = from
    while (at < until) {
      if (slots(at) != 0L) write(slots(at) - 1L, column, writer)
      at += 1
    }
    if (at < slots.length) until
    else {
      bits = initialBits
      slots = new Array[Long](1 << bits)
      pages = Array.empty
      pageCount = 0
      pageBytes = 0L
      count = 0
      -1
    }
  }

  private def write(pair: Long, column: Int, writer: BlockWriter): Unit = {
    val page = pages((pair >>> 32).toInt)
    val place = placeOf(pair)
    val hash = Platform.getLong(page, place)
    val group = Platform.getInt(page, place + 8)
    val length = Platform.getInt(page, place + 12)
    writer.bytes(column, group, page, place + header, length, hash)
  }

  private def placeOf(pair: Long): Long = (pair & 0xffffffffL) + Platform.BYTE_ARRAY_OFFSET
}

private[skew] object DistinctBytes {
  private val initialBits = 8
  private val header = 16 // hash, group, length
  private val firstPage = 64 << 10
}

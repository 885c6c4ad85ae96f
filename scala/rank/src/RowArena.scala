package io.firesteel.rank

import java.util.Arrays

import org.apache.spark.unsafe.Platform

/**
 * Memory for many small records that are allocated and freed, without an object for each record.
 *
 * Records are stored in large byte arrays, the pages. An address has the page in its upper half and
 * the byte offset in its lower half. A freed record enters a free list of its size and is reused.
 * The garbage collector sees a few pages, however many rows are kept. With one object per row,
 * copying between generations took several times as long as the work itself.
 *
 * Memory: sizes are rounded up to 8 bytes, above 1 KiB to a power of two. Pages grow from 64 KiB to
 * 4 MiB, and a larger record gets its own page. A page's size includes the array header. Otherwise
 * a collector with regions would need one more region for each page (SPARK-37593).
 */
private[rank] final class RowArena {
  import RowArena._

  private[this] var pages: Array[Array[Byte]] = new Array[Array[Byte]](4)
  private[this] var pageCount: Int = 0
  private[this] val free: Array[Long] = new Array[Long](classes)
  private[this] var next: Long = 0L // address of the first unused byte in the last page
  private[this] var room: Int = 0 // bytes left in it
  private[this] var held: Long = 0L

  /** Bytes of all pages. */
  def bytes: Long = held

  /** The page of a record, as base object for `Platform`. */
  def base(address: Long): Array[Byte] = pages((address >>> 32).toInt)

  /** The offset of a record in its page, for `Platform`. */
  def offset(address: Long): Long = (address & 0xffffffffL) + Platform.BYTE_ARRAY_OFFSET

  def getLong(address: Long): Long = Platform.getLong(base(address), offset(address))

  def putLong(address: Long, value: Long): Unit =
    Platform.putLong(base(address), offset(address), value)

  def getInt(address: Long): Int = Platform.getInt(base(address), offset(address))

  def putInt(address: Long, value: Int): Unit =
    Platform.putInt(base(address), offset(address), value)

  /** Allocates a record of `bytes` bytes with undefined content. The address is never 0. */
  def allocate(bytes: Int): Long = {
    val of = classOf(bytes)
    val reused = free(of)
    if (reused != 0L) {
      free(of) = getLong(reused)
      reused
    } else {
      val size = capacity(bytes)
      if (size > room) addPage(size)
      val address = next
      next += size
      room -= size
      address
    }
  }

  /** Frees a record of `bytes` bytes. */
  def release(address: Long, bytes: Int): Unit = {
    val of = classOf(bytes)
    putLong(address, free(of))
    free(of) = address
  }

  /** Frees every record and every page. */
  def clear(): Unit = {
    Arrays.fill(pages.asInstanceOf[Array[AnyRef]], null)
    Arrays.fill(free, 0L)
    pageCount = 0
    next = 0L
    room = 0
    held = 0L
  }

  private def addPage(size: Int): Unit = {
    // The first 8 bytes are unused, so that no address is 0.
    val usual = (firstPage << math.min(pageCount, largestShift)) - Platform.BYTE_ARRAY_OFFSET
    val bytes = math.max(usual, size + 8)
    if (pageCount == pages.length) pages = Arrays.copyOf(pages, pageCount * 2)
    pages(pageCount) = new Array[Byte](bytes)
    next = (pageCount.toLong << 32) + 8L
    room = bytes - 8
    pageCount += 1
    held += bytes
  }
}

private[rank] object RowArena {
  private val firstPage: Int = 64 << 10
  private val largestShift: Int = 6
  private val small: Int = 1024
  private val largest: Int = 1 << 30
  private val classes: Int = small / 8 + 1 + 32

  /** The allocated size of a record of `bytes` bytes, at most 2^30. */
  def capacity(bytes: Int): Int =
    if (bytes <= small) math.max(8, (bytes + 7) & ~7)
    else {
      require(
        bytes <= largest,
        s"a row of $bytes bytes exceeds the limit of $largest bytes for a row of a top-n query; " +
          s"read fewer columns or set ${RankConf.ENABLED.key} to false"
      )
      Integer.highestOneBit(bytes - 1) << 1
    }

  /** Records of the same class have the same capacity. */
  def classOf(bytes: Int): Int =
    if (bytes <= small) capacity(bytes) / 8
    else small / 8 + 32 - Integer.numberOfLeadingZeros(bytes - 1)
}

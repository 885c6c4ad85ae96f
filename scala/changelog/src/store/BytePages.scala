package io.firesteel.changelog.store

import io.firesteel.core.rows.Mix64

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods

/**
 * Pairs of rows in large arrays. A pair never changes and never moves, so a row over its bytes stays
 * valid, and other threads may read pairs that were there when they got the arrays.
 *
 * A pair is two sizes of four bytes each, and the bytes of both rows. Its address is the number of
 * its array, from 1, and its place there, so no address is 0. A large pair has an array of its own.
 *
 * @param first arrays of other pages, which stay as they are: what comes lies in new ones
 */
final private[store] class BytePages(first: Array[Array[Byte]]) {
  import BytePages._

  private[this] var arrays = java.util.Arrays.copyOf(first, math.max(4, first.length))
  private[this] var used = first.length
  private[this] var page = Array.emptyByteArray // takes the next pairs that are not large
  private[this] var (number, at) = (0, 0) // its number, and the next free byte in it
  private[this] var allocated = first.map(_.length.toLong).sum

  def this() = this(Array.empty)

  /** Bytes of all arrays. */
  def bytes: Long = allocated

  /** The arrays. Those that are in use do not change from now on, nor what they hold. */
  def all: Array[Array[Byte]] = arrays

  /** The arrays that are in use now, without those to come. */
  def now: Array[Array[Byte]] = java.util.Arrays.copyOf(arrays, used)

  /** Copies a pair of rows; returns its address. */
  def add(key: UnsafeRow, value: UnsafeRow): Long = {
    val (keySize, valueSize) = (key.getSizeInBytes, value.getSizeInBytes)
    val address = reserve(Math.addExact(Math.addExact(keySize, valueSize), sizes))
    val (its, start) = (pageOf(arrays, address), Platform.BYTE_ARRAY_OFFSET + placeOf(address))
    Platform.putInt(its, start.toLong, keySize)
    Platform.putInt(its, start + 4L, valueSize)
    key.writeToMemory(its, start + sizes.toLong)
    value.writeToMemory(its, start + sizes.toLong + keySize)
    address
  }

  /** Copies a pair of other pages; returns its address here. */
  def copy(from: Array[Array[Byte]], address: Long): Long = {
    val size = sizeOf(from, address)
    val copied = reserve(size)
    System.arraycopy(
      pageOf(from, address),
      placeOf(address),
      pageOf(arrays, copied),
      placeOf(copied),
      size)
    copied
  }

  def isKey(address: Long, key: UnsafeRow): Boolean = {
    val (page, start) = (pageOf(arrays, address), Platform.BYTE_ARRAY_OFFSET + placeOf(address))
    val size = key.getSizeInBytes
    Platform.getInt(page, start.toLong) == size && ByteArrayMethods.arrayEquals(
      page,
      start + sizes.toLong,
      key.getBaseObject,
      key.getBaseOffset,
      size.toLong)
  }

  /** The address of a pair that comes. */
  private def reserve(size: Int): Long =
    if (size > largest / 8) addressOf(allocate(size), 0)
    else {
      if (page.length - at < size) {
        // Arrays begin small: most stores of a small query have few rows.
        val wanted = math.max(smallest.toLong, math.min(largest.toLong, allocated / 4)).toInt
        number = allocate(math.max(size, wanted))
        page = arrays(number - 1)
        at = 0
      }
      val address = addressOf(number, at)
      at += size
      address
    }

  /** The number of a new array. */
  private def allocate(size: Int): Int = {
    // Readers keep the old array of arrays.
    if (used == arrays.length) arrays = java.util.Arrays.copyOf(arrays, 2 * used)
    arrays(used) = new Array[Byte](size)
    used += 1
    allocated += size
    used
  }
}

private[store] object BytePages {

  /** Bytes before the rows of a pair. */
  val sizes: Int = 8

  /** Less than half of a G1 region of any heap, above which the collector handles arrays one by one. */
  private val largest = 256 * 1024
  private val smallest = 4096

  private def addressOf(page: Int, place: Int): Long = page.toLong << 32 | place.toLong
  private def pageOf(arrays: Array[Array[Byte]], address: Long) = arrays((address >>> 32).toInt - 1)
  private def placeOf(address: Long): Int = address.toInt

  /** Bytes of a pair. */
  def sizeOf(arrays: Array[Array[Byte]], address: Long): Int = {
    val (page, start) = (pageOf(arrays, address), Platform.BYTE_ARRAY_OFFSET + placeOf(address))
    sizes + Platform.getInt(page, start.toLong) + Platform.getInt(page, start + 4L)
  }

  /** Shows a pair's key in a row. */
  def readKey(arrays: Array[Array[Byte]], address: Long, row: UnsafeRow): Unit = {
    val (page, start) = (pageOf(arrays, address), Platform.BYTE_ARRAY_OFFSET + placeOf(address))
    requireIn(page, placeOf(address), 0L)
    val size = Platform.getInt(page, start.toLong)
    requireIn(page, placeOf(address), size.toLong)
    row.pointTo(page, start + sizes.toLong, size)
  }

  /** Shows a pair's value in a row. */
  def readValue(arrays: Array[Array[Byte]], address: Long, row: UnsafeRow): Unit = {
    val (page, start) = (pageOf(arrays, address), Platform.BYTE_ARRAY_OFFSET + placeOf(address))
    requireIn(page, placeOf(address), 0L)
    val (keySize, size) = (Platform.getInt(page, start.toLong), Platform.getInt(page, start + 4L))
    requireIn(page, placeOf(address), keySize.toLong + size)
    row.pointTo(page, start + sizes.toLong + keySize, size)
  }

  /** A fault in the addresses must be an error of the query, not one of the JVM. */
  private def requireIn(page: Array[Byte], place: Int, size: Long): Unit =
    if (size < 0 || place + sizes + size > page.length) {
      throw new IllegalStateException(s"a pair of $size bytes at $place of ${page.length}")
    }

  /** A hash of a row's bytes, eight at a time: the size of a row is a multiple of eight. */
  def hash(row: UnsafeRow): Int = {
    val (base, from, size) = (row.getBaseObject, row.getBaseOffset, row.getSizeInBytes)
    var mixed = size.toLong
    var i = 0
    while (i < size) {
      mixed = (mixed ^ Platform.getLong(base, from + i)) * multiplier
      mixed ^= mixed >>> 32
      i += 8
    }
    Mix64(mixed).toInt
  }

  /** The fraction of the golden ratio, of 64 bits, as in Fibonacci hashing. */
  private val multiplier = 0x9e3779b97f4a7c15L
}

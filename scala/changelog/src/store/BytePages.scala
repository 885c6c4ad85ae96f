package io.firesteel.changelog.store

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods

/**
 * Pairs of rows in large arrays. A pair never changes and never moves, so a row over its bytes stays
 * valid, and other threads may read pairs that were there when they got the arrays.
 *
 * A pair is two sizes of four bytes each, and the bytes of both rows. Its address is the number of
 * its array, from 1, and its place there: no address is 0, and a pair that comes later has a greater
 * one.
 */
final private[store] class BytePages {
  import BytePages._

  private[this] var arrays = new Array[Array[Byte]](4)
  private[this] var used = 0
  private[this] var at = 0 // the next free byte of the last array
  private[this] var allocated = 0L

  /** Bytes of all arrays. */
  def bytes: Long = allocated

  /** Every pair that is added from now on has this address or a greater one. */
  def next: Long = addressOf(used, at)

  /** The arrays. Those that are in use do not change from now on, nor what they hold. */
  def all: Array[Array[Byte]] = arrays

  /** Copies a pair of rows; returns its address. */
  def add(key: UnsafeRow, value: UnsafeRow): Long = {
    val (keySize, valueSize) = (key.getSizeInBytes, value.getSizeInBytes)
    reserve(Math.addExact(Math.addExact(keySize, valueSize), sizes))
    val page = arrays(used - 1)
    val start = Platform.BYTE_ARRAY_OFFSET + at
    Platform.putInt(page, start.toLong, keySize)
    Platform.putInt(page, start + 4L, valueSize)
    key.writeToMemory(page, start + sizes.toLong)
    value.writeToMemory(page, start + sizes.toLong + keySize)
    taken(sizes + keySize + valueSize)
  }

  /** Copies a pair of other pages; returns its address here. */
  def copy(from: Array[Array[Byte]], address: Long): Long = {
    val size = sizeOf(from, address)
    reserve(size)
    System.arraycopy(pageOf(from, address), placeOf(address), arrays(used - 1), at, size)
    taken(size)
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

  private def taken(size: Int): Long = {
    val address = addressOf(used, at)
    at += size
    address
  }

  /** Arrays begin small: most stores of a small query have few rows. */
  private def reserve(size: Int): Unit =
    if (used == 0 || arrays(used - 1).length - at < size) {
      val page =
        math.max(size, math.max(smallest.toLong, math.min(largest.toLong, allocated)).toInt)
      // Readers keep the old array of arrays.
      if (used == arrays.length) arrays = java.util.Arrays.copyOf(arrays, 2 * used)
      arrays(used) = new Array[Byte](page)
      used += 1
      at = 0
      allocated += page
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
    row.pointTo(page, start + sizes.toLong, Platform.getInt(page, start.toLong))
  }

  /** Shows a pair's value in a row. */
  def readValue(arrays: Array[Array[Byte]], address: Long, row: UnsafeRow): Unit = {
    val (page, start) = (pageOf(arrays, address), Platform.BYTE_ARRAY_OFFSET + placeOf(address))
    val keySize = Platform.getInt(page, start.toLong)
    row.pointTo(page, start + sizes.toLong + keySize, Platform.getInt(page, start + 4L))
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
    (mixed ^ mixed >>> 29).toInt
  }

  /** The fraction of the golden ratio, of 64 bits, as in Fibonacci hashing. */
  private val multiplier = 0x9e3779b97f4a7c15L
}

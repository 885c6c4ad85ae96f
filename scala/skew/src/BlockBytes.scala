package io.firesteel.skew

import java.nio.{ByteBuffer, ByteOrder}
import java.util.Arrays

import org.apache.spark.unsafe.Platform

/** A growing array of bytes. Whole numbers have a variable length. */
private[skew] final class BlockBytes(length: Int = 1024) {

  private[this] var bytes = new Array[Byte](length)
  private[this] var end = 0

  def size: Int = end

  def clear(): Unit = end = 0

  def toArray: Array[Byte] = Arrays.copyOf(bytes, end)

  /** Seven bits a byte, the lowest first. A negative number takes ten bytes. */
  def putNumber(number: Long): Unit = {
    reserve(10)
    var left = number
    while ((left & ~0x7fL) != 0L) {
      bytes(end) = (left | 0x80L).toByte
      end += 1
      left = left >>> 7
    }
    bytes(end) = left.toByte
    end += 1
  }

  /** A number near zero, of either sign, takes few bytes. */
  def putSigned(number: Long): Unit = putNumber((number << 1) ^ (number >> 63))

  def putBytes(base: AnyRef, offset: Long, length: Int): Unit = {
    reserve(length)
    Platform.copyMemory(base, offset, bytes, Platform.BYTE_ARRAY_OFFSET + end.toLong, length.toLong)
    end += length
  }

  /** Appends `length` bytes of `other`, from `from`. */
  def putBytes(other: BlockBytes, from: Int, length: Int): Unit =
    putBytes(other.array, Platform.BYTE_ARRAY_OFFSET + from.toLong, length)

  /** The lowest `width` bytes of the difference of each number to `least`. */
  def putDifferences(
      numbers: Array[Long],
      from: Int,
      until: Int,
      least: Long,
      width: Int): Unit = {
    reserve((until - from) * width + 8) // whole words are written, over each other
    val words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
    var at = end
    var i = from
    while (i < until) {
      words.putLong(at, numbers(i) - least)
      at += width
      i += 1
    }
    end = at
  }

  /** The bytes themselves, of which the first `size` count. */
  def array: Array[Byte] = bytes

  /** @throws ArithmeticException beyond two gigabytes, where bytes would be written elsewhere */
  private def reserve(more: Int): Unit = {
    val needed = Math.addExact(end, more)
    if (needed > bytes.length) bytes = Arrays.copyOf(bytes, math.max(bytes.length * 2, needed))
  }
}

/** Reads what [[BlockBytes]] wrote. */
private[skew] final class BlockReader(bytes: Array[Byte]) {

  private[this] var at = 0

  def number(): Long = {
    var result = 0L
    var shift = 0
    var next = bytes(at)
    at += 1
    while (next < 0) {
      result |= (next & 0x7fL) << shift
      shift += 7
      next = bytes(at)
      at += 1
    }
    result | (next.toLong << shift)
  }

  def int(): Int = number().toInt

  def signed(): Long = {
    val number = this.number()
    (number >>> 1) ^ -(number & 1L)
  }

  /** Reads what `putDifferences` wrote. */
  def differences(numbers: Array[Long], from: Int, until: Int, least: Long, width: Int): Unit = {
    val words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
    val mask = if (width == 8) -1L else (1L << (width * 8)) - 1
    var i = from
    while (i < until && at + 8 <= bytes.length) {
      numbers(i) = least + (words.getLong(at) & mask)
      at += width
      i += 1
    }
    while (i < until) {
      var difference = 0L
      var byte = width - 1
      while (byte >= 0) {
        difference = (difference << 8) | (bytes(at + byte) & 0xffL)
        byte -= 1
      }
      numbers(i) = least + difference
      at += width
      i += 1
    }
  }

  def base: Array[Byte] = bytes

  /** Skips `length` bytes and returns their offset as `Platform` wants it. */
  def skip(length: Int): Long = {
    val offset = Platform.BYTE_ARRAY_OFFSET + at.toLong
    at += length
    offset
  }
}

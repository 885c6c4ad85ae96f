package io.firesteel.json

import java.nio.ByteOrder

import org.apache.spark.unsafe.Platform

/** Eight bytes of text as one LONG; the first byte is the lowest. */
private[json] object Swar {

  private final val ONES = 0x0101010101010101L
  private final val HIGHS = 0x8080808080808080L
  private final val QUOTES = 0x2222222222222222L
  private final val BACKSLASHES = 0x5c5c5c5c5c5c5c5cL
  private final val SPACES = 0x2020202020202020L

  private val bigEndian = ByteOrder.nativeOrder == ByteOrder.BIG_ENDIAN

  /** The eight bytes at `at`, which must be inside the array. */
  def load(bytes: Array[Byte], at: Int): Long = {
    val word = Platform.getLong(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + at)
    if (bigEndian) java.lang.Long.reverseBytes(word) else word
  }

  /**
   * The bytes that end a run of plain text in a string: a quote, a backslash, a control character.
   * The lowest set bit belongs to the first such byte. Bits above it may be wrong, because a
   * subtraction borrows.
   */
  def special(word: Long): Long = {
    val quote = word ^ QUOTES
    val backslash = word ^ BACKSLASHES
    (((quote - ONES) & ~quote) | ((backslash - ONES) & ~backslash) | ((word - SPACES) & ~word)) &
      HIGHS
  }

  /** The same for backslashes alone. */
  def backslash(word: Long): Long = {
    val backslash = word ^ BACKSLASHES
    (backslash - ONES) & ~backslash & HIGHS
  }

  def nonAscii(word: Long): Long = word & HIGHS

  /** The place of the first byte that a mask of this object marks. */
  def first(mask: Long): Int = java.lang.Long.numberOfTrailingZeros(mask) >> 3
}

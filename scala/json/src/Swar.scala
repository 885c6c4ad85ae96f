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
  private final val ZEROS = 0x3030303030303030L
  private final val LOWS = 0x7f7f7f7f7f7f7f7fL
  private final val SIXES = 0x7676767676767676L // from 10 on a byte has its highest bit with it

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

  /** The bytes that are no digits, each marked for itself. */
  def notDigit(word: Long): Long = {
    val value = word ^ ZEROS
    (((value & LOWS) + SIXES) | value) & HIGHS
  }

  /** The number that eight digits are: of pairs, then of fours, then of all. */
  def number(word: Long): Long = {
    val pairs = ((word & 0x0f0f0f0f0f0f0f0fL) * (10L * 256L + 1L)) >>> 8
    val fours = ((pairs & 0x00ff00ff00ff00ffL) * (100L * 65536L + 1L)) >>> 16
    ((fours & 0x0000ffff0000ffffL) * (10000L * 4294967296L + 1L)) >>> 32
  }

  /** The place of the first byte that a mask of this object marks. */
  def first(mask: Long): Int = java.lang.Long.numberOfTrailingZeros(mask) >> 3
}

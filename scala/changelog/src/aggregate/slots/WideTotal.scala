package io.firesteel.changelog.aggregate.slots

import java.lang.Long.{compareUnsigned, reverseBytes}
import java.math.BigInteger
import java.nio.{ByteBuffer, ByteOrder}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * A sum of whole numbers. It is kept in 128 bits, since arithmetic on `BigInteger` makes objects
 * for each row. What exceeds the 128 bits goes to a `BigInteger`.
 */
final private[slots] class WideTotal {

  private[this] var high = 0L
  private[this] var low = 0L
  private[this] var rest = BigInteger.ZERO

  def value: BigInteger =
    if (high == (low >> 63)) rest.add(BigInteger.valueOf(low))
    else rest.add(new BigInteger(ByteBuffer.allocate(16).putLong(high).putLong(low).array))

  def add(number: BigInteger): Unit =
    if (number.bitLength < 64) plus(number.signum.toLong >> 63, number.longValue)
    else rest = rest.add(number)

  /** Adds the digits of a row's decimal of more than 18 digits, or takes them away. */
  def add(row: UnsafeRow, column: Int, sign: Int): Unit = {
    // Such a decimal is stored as the fewest bytes of a big-endian two's complement, in 16 bytes.
    val place = row.getLong(column)
    val at = row.getBaseOffset + (place >>> 32)
    val bits = 8 * place.toInt
    val first = WideTotal.bigEndian(Platform.getLong(row.getBaseObject, at))
    if (bits <= 64) {
      val number = first >> (64 - bits)
      if (sign > 0) plus(number >> 63, number) else minus(number >> 63, number)
    } else {
      val second = WideTotal.bigEndian(Platform.getLong(row.getBaseObject, at + 8))
      val spare = 128 - bits
      val top = first >> spare
      val bottom = if (spare == 0) second else (first << (64 - spare)) | (second >>> spare)
      if (sign > 0) plus(top, bottom) else minus(top, bottom)
    }
  }

  private[this] def plus(top: Long, bottom: Long): Unit = {
    low += bottom
    high += top + (if (compareUnsigned(low, bottom) < 0) 1L else 0L)
    keepRoom()
  }

  private[this] def minus(top: Long, bottom: Long): Unit = {
    high -= top + (if (compareUnsigned(low, bottom) < 0) 1L else 0L)
    low -= bottom
    keepRoom()
  }

  /** A number of 38 digits is below 2^126.3. A sum below 2^125 has room for one more. */
  private[this] def keepRoom(): Unit =
    if (high >= WideTotal.full || high < -WideTotal.full) {
      rest = value
      high = 0L
      low = 0L
    }
}

private object WideTotal {

  private val full = 1L << 61

  private val isBigEndian = ByteOrder.nativeOrder == ByteOrder.BIG_ENDIAN

  private def bigEndian(word: Long): Long = if (isBigEndian) word else reverseBytes(word)
}

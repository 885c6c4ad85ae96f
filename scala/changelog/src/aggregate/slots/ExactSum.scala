package io.firesteel.changelog.aggregate.slots

import java.math.BigInteger
import java.nio.ByteBuffer

/**
 * An exact sum of finite doubles, `mantissa * 2^exponent`. A rounded sum would not support
 * retraction: after 1e300 is inserted and retracted, it has lost all smaller numbers.
 *
 * Size: the bits between the largest and the smallest number; about 16 bytes for numbers of similar
 * size, at most 270 bytes.
 */
final private[slots] class ExactSum(mantissa: BigInteger, exponent: Int)
  extends Serializable {

  def isZero: Boolean = mantissa.signum == 0

  def negated: ExactSum = new ExactSum(mantissa.negate, exponent)

  def plus(value: Double): ExactSum = if (value == 0.0) this else plus(ExactSum.of(value))

  def plus(other: ExactSum): ExactSum = other.addTo(mantissa, exponent)

  private def addTo(m: BigInteger, e: Int): ExactSum =
    if (m.signum == 0) this
    else if (mantissa.signum == 0) new ExactSum(m, e)
    else {
      val low = math.min(e, exponent)
      new ExactSum(m.shiftLeft(e - low).add(mantissa.shiftLeft(exponent - low)), low)
    }

  /** The nearest double; ties to even. */
  def toDouble: Double = {
    val magnitude = mantissa.abs
    val spare = magnitude.bitLength - 55
    val rounded =
      if (spare <= 0) Math.scalb(magnitude.longValue.toDouble, exponent)
      else {
        // 53 bits of the result, one bit for a half, and one bit for any remainder.
        val more = if (magnitude.getLowestSetBit < spare) 1L else 0L
        Math.scalb((magnitude.shiftRight(spare).longValue | more).toDouble, exponent + spare)
      }
    if (mantissa.signum < 0) -rounded else rounded
  }

  def toBytes: Array[Byte] =
    if (mantissa.signum == 0) Array.emptyByteArray
    else {
      val zeros = mantissa.getLowestSetBit
      val digits = mantissa.shiftRight(zeros).toByteArray
      ByteBuffer.allocate(4 + digits.length).putInt(exponent + zeros).put(digits).array
    }
}

private[slots] object ExactSum {

  val zero: ExactSum = new ExactSum(BigInteger.ZERO, 0)

  def of(value: Double): ExactSum =
    if (value == 0.0) zero
    else {
      val bits = java.lang.Double.doubleToRawLongBits(value)
      val biased = ((bits >> 52) & 0x7ff).toInt
      val fraction = bits & 0xfffffffffffffL
      val mantissa = if (biased == 0) fraction else fraction | 0x10000000000000L
      val signed = BigInteger.valueOf(if (bits < 0) -mantissa else mantissa)
      new ExactSum(signed, math.max(biased, 1) - 1075)
    }

  def of(bytes: Array[Byte]): ExactSum =
    if (bytes == null || bytes.isEmpty) zero
    else {
      val digits = new BigInteger(bytes, 4, bytes.length - 4)
      new ExactSum(digits, ByteBuffer.wrap(bytes).getInt)
    }
}

package io.firesteel.json

import java.nio.charset.StandardCharsets.ISO_8859_1

/** Reads numbers whose grammar [[JsonText]] has checked; the answer is in a field. */
final private[json] class NumberText {

  private[this] var whole = 0L
  private[this] var real = 0.0
  private[this] var single = 0.0f
  private[this] var point = 0

  /** The number that was read last, or its digits without the decimal point. */
  def long: Long = whole

  def double: Double = real

  def float: Float = single

  /** Digits after the decimal point. */
  def scale: Int = point

  /** Reads digits that fit into a LONG; false for all others. */
  def readLong(bytes: Array[Byte], from: Int, until: Int): Boolean = {
    val negative = bytes(from) == '-'
    var at = if (negative) from + 1 else from
    if (until - at > 19) false
    else {
      var value = 0L
      var digits = true
      while (digits && at <= until - 8) {
        val word = Swar.load(bytes, at)
        digits = Swar.notDigit(word) == 0L
        value = value * 100000000L + Swar.number(word)
        at += 8
      }
      while (digits && at < until) {
        val digit = bytes(at) - '0'
        digits = digit >= 0 && digit <= 9
        value = value * 10 + digit
        at += 1
      }
      whole = if (negative) -value else value
      // Nineteen digits fit without their sign, so a negative value has left the range of LONG.
      digits && (value >= 0 || (negative && value == Long.MinValue))
    }
  }

  /**
   * Reads digits with or without a decimal point, at most eighteen; false if there are more, or an
   * exponent.
   */
  def readDecimal(bytes: Array[Byte], from: Int, until: Int): Boolean = {
    val negative = bytes(from) == '-'
    var at = if (negative) from + 1 else from
    var value = 0L
    var after = -1
    var plain = until - at <= 18
    while (plain && at < until) {
      val byte = bytes(at)
      if (byte == '.') after = at
      else if (JsonText.isDigit(byte.toInt)) value = value * 10 + (byte - '0')
      else plain = false
      at += 1
    }
    whole = if (negative) -value else value
    point = if (after < 0) 0 else until - after - 1
    plain
  }

  /**
   * Reads a DOUBLE. Jackson reads a number without point and exponent as an integer, so that `-0` is
   * 0.0; with more than eighteen digits it is handed over.
   */
  def readDouble(bytes: Array[Byte], from: Int, until: Int): Boolean =
    if (isInteger(bytes, from, until)) {
      val fits = until - from <= 18 && readLong(bytes, from, until)
      if (fits) real = whole.toDouble
      fits
    } else {
      real =
        if (readDecimal(bytes, from, until) && math.abs(whole) < (1L << 53) && point <= 22) {
          // Both are exact, so the quotient is rounded once.
          val value = math.abs(whole).toDouble / NumberText.POWERS(point)
          if (bytes(from) == '-') -value else value
        } else java.lang.Double.parseDouble(text(bytes, from, until))
      !real.isInfinite
    }

  /** Reads a FLOAT, which Jackson takes from the text or from a LONG, and not from a DOUBLE. */
  def readFloat(bytes: Array[Byte], from: Int, until: Int): Boolean =
    if (isInteger(bytes, from, until)) {
      val fits = until - from <= 18 && readLong(bytes, from, until)
      if (fits) single = whole.toFloat
      fits
    } else {
      single = java.lang.Float.parseFloat(text(bytes, from, until))
      !single.isInfinite
    }

  def isInteger(bytes: Array[Byte], from: Int, until: Int): Boolean = {
    var at = from + 1
    while (at < until && JsonText.isDigit(bytes(at).toInt)) at += 1
    at == until
  }

  private def text(bytes: Array[Byte], from: Int, until: Int): String =
    new String(bytes, from, until - from, ISO_8859_1)
}

private[json] object NumberText {

  /** Powers of ten that a DOUBLE has exactly. */
  private val POWERS: Array[Double] = Array.tabulate(23)(i => ("1e" + i).toDouble)
}

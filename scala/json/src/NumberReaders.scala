package io.firesteel.json

import java.nio.charset.StandardCharsets.ISO_8859_1

import org.apache.spark.sql.catalyst.expressions.codegen.{UnsafeRowWriter, UnsafeWriter}
import org.apache.spark.sql.types.{Decimal, DecimalType}

/** BOOLEAN. */
final private[json] class BooleanReader extends ValueReader {

  override protected def write(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean = {
    val first = text.byteAt(from)
    writer.write(ordinal, first == 't')
    first == 't' || first == 'f'
  }

  override def writeNull(writer: UnsafeWriter, ordinal: Int): Unit = writer.setNull1Bytes(ordinal)

  override def width: Int = 1
}

/** BYTE, SHORT, INT and LONG, by their width. Values out of range are Spark's. */
final private[json] class IntegerReader(override val width: Int) extends ValueReader {

  private[this] val numbers = new NumberText

  override protected def write(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean =
    numbers.readLong(text.bytes, from, until) && {
      val value = numbers.long
      width match {
        case 8 =>
          writer.write(ordinal, value)
          true
        case 4 =>
          writer.write(ordinal, value.toInt)
          value == value.toInt
        case 2 =>
          writer.write(ordinal, value.toShort)
          value == value.toShort
        case _ =>
          writer.write(ordinal, value.toByte)
          value == value.toByte
      }
    }

  override def writeNull(writer: UnsafeWriter, ordinal: Int): Unit = width match {
    case 8 => writer.setNull8Bytes(ordinal)
    case 4 => writer.setNull4Bytes(ordinal)
    case 2 => writer.setNull2Bytes(ordinal)
    case _ => writer.setNull1Bytes(ordinal)
  }
}

/** DOUBLE. A string such as "NaN" is Spark's. */
final private[json] class DoubleReader extends WideReader {

  private[this] val numbers = new NumberText

  override protected def write(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean =
    isNumber(text.byteAt(from)) && numbers.readDouble(text.bytes, from, until) && {
      writer.write(ordinal, numbers.double)
      true
    }

  private def isNumber(byte: Int): Boolean = byte == '-' || JsonText.isDigit(byte)
}

/** FLOAT. */
final private[json] class FloatReader extends ValueReader {

  private[this] val numbers = new NumberText

  override protected def write(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean = {
    val first = text.byteAt(from)
    (first == '-' || JsonText.isDigit(first)) && numbers.readFloat(text.bytes, from, until) && {
      writer.write(ordinal, numbers.float)
      true
    }
  }

  override def writeNull(writer: UnsafeWriter, ordinal: Int): Unit = writer.setNull4Bytes(ordinal)

  override def width: Int = 4
}

/** DECIMAL from a number without exponent. Values with too many digits are Spark's. */
final private[json] class DecimalReader(dataType: DecimalType) extends ValueReader {

  private[this] val numbers = new NumberText
  private[this] val compact = dataType.precision <= Decimal.MAX_LONG_DIGITS
  private[this] val bound = Decimal.POW_10(math.min(dataType.precision, Decimal.MAX_LONG_DIGITS))

  override protected def write(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean = {
    val first = text.byteAt(from)
    if (first != '-' && !JsonText.isDigit(first)) false
    else if (compact) {
      numbers.readDecimal(text.bytes, from, until) &&
      writeCompact(writer, ordinal, numbers.long, dataType.scale - numbers.scale)
    } else writeWide(text, from, until, writer, ordinal)
  }

  /** Writes digits with `shift` more places after the decimal point. */
  private def writeCompact(writer: UnsafeWriter, ordinal: Int, digits: Long, shift: Int): Boolean =
    if (shift >= 0) {
      val most = bound / Decimal.POW_10(shift)
      math.abs(digits) < most && {
        writer.write(ordinal, digits * Decimal.POW_10(shift))
        true
      }
    } else {
      val divisor = Decimal.POW_10(-shift)
      val rest = math.abs(digits % divisor)
      val up = if (rest >= divisor - rest) 1 else 0
      val rounded = math.abs(digits / divisor) + up
      writer.write(ordinal, if (digits < 0) -rounded else rounded)
      rounded < bound
    }

  private def writeWide(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean = {
    val number = new String(text.bytes, from, until - from, ISO_8859_1)
    number.indexOf('e') < 0 && number.indexOf('E') < 0 && {
      val value = new java.math.BigDecimal(number).setScale(
        dataType.scale,
        java.math.RoundingMode.HALF_UP)
      value.precision <= dataType.precision && {
        val decimal = Decimal(value, dataType.precision, dataType.scale)
        writer.write(ordinal, decimal, dataType.precision, dataType.scale)
        true
      }
    }
  }

  override def writeNull(writer: UnsafeWriter, ordinal: Int): Unit = writer match {
    // A row keeps the room of a wide decimal that is null.
    case row: UnsafeRowWriter if !compact =>
      row.write(ordinal, null.asInstanceOf[Decimal], dataType.precision, dataType.scale)
    case _ => writer.setNull8Bytes(ordinal)
  }
}

package io.firesteel.json

import java.time.ZoneId

import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeWriter
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.unsafe.types.UTF8String

/** STRING: the characters of a string, and the text of any other value. */
final private[json] class StringReader extends WideReader {

  private[this] val buffer = new TextBuffer
  private[this] val rendering = new Rendering

  override protected def write(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean = this.text(text, from, until, writer, ordinal)

  /** Writes any value as text, also the word null. */
  def text(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean =
    if (text.byteAt(from) != '"') {
      buffer.clear()
      rendering.add(text, from, until, buffer) && writeBuffer(writer, ordinal)
    } else
      StringText.kind(text, from + 1, until - 1) match {
        case StringText.Plain =>
          writer.write(ordinal, text.bytes, from + 1, until - from - 2)
          true
        case StringText.Escaped =>
          buffer.clear()
          StringText.unescape(text, from + 1, until - 1, buffer) && writeBuffer(writer, ordinal)
        case _ => false
      }

  private def writeBuffer(writer: UnsafeWriter, ordinal: Int): Boolean = {
    writer.write(ordinal, buffer.bytes, 0, buffer.length)
    true
  }
}

/** A type that Spark reads from the characters of a string. Others than plain ones are Spark's. */
abstract private[json] class ParsedReader extends ValueReader {

  final override protected def write(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean =
    if (text.byteAt(from) == '"') {
      until - from > 2 && StringText.kind(text, from + 1, until - 1) == StringText.Plain &&
      parse(UTF8String.fromBytes(text.bytes, from + 1, until - from - 2), writer, ordinal)
    } else number(text, from, until, writer, ordinal)

  protected def parse(string: UTF8String, writer: UnsafeWriter, ordinal: Int): Boolean

  /** Writes a value that is not a string. */
  protected def number(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean = false
}

/** DATE in its default format. */
final private[json] class DateReader extends ParsedReader {

  override protected def parse(string: UTF8String, writer: UnsafeWriter, ordinal: Int): Boolean = {
    val days = DateTimeUtils.stringToDate(string)
    days.foreach(writer.write(ordinal, _))
    days.nonEmpty
  }

  override def writeNull(writer: UnsafeWriter, ordinal: Int): Unit = writer.setNull4Bytes(ordinal)

  override def width: Int = 4
}

/** TIMESTAMP in its default format, or from whole seconds. */
final private[json] class TimestampReader(zone: ZoneId) extends ParsedReader {

  private[this] val numbers = new NumberText

  override protected def parse(string: UTF8String, writer: UnsafeWriter, ordinal: Int): Boolean = {
    val micros = DateTimeUtils.stringToTimestamp(string, zone)
    micros.foreach(writer.write(ordinal, _))
    micros.nonEmpty
  }

  override protected def number(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean =
    numbers.readLong(text.bytes, from, until) && {
      writer.write(ordinal, numbers.long * 1000000L)
      true
    }

  override def writeNull(writer: UnsafeWriter, ordinal: Int): Unit = writer.setNull8Bytes(ordinal)
}

/** TIMESTAMP_NTZ in its default format. */
final private[json] class LocalTimestampReader extends ParsedReader {

  override protected def parse(string: UTF8String, writer: UnsafeWriter, ordinal: Int): Boolean = {
    val micros = DateTimeUtils.stringToTimestampWithoutTimeZone(string, allowTimeZone = false)
    micros.foreach(writer.write(ordinal, _))
    micros.nonEmpty
  }

  override def writeNull(writer: UnsafeWriter, ordinal: Int): Unit = writer.setNull8Bytes(ordinal)
}

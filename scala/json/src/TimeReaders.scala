package io.firesteel.json

import java.time.{ZoneId, ZoneOffset}

import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeWriter
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.unsafe.types.UTF8String

/**
 * A type that Spark reads from the characters of a string, in its default format. Usual forms are
 * read here, others by the same function of Spark's as its parser calls. If that function finds no
 * time, Spark's parser tries older formats.
 */
abstract private[json] class ParsedReader extends ValueReader {

  final override protected def write(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean =
    if (text.byteAt(from) == '"') {
      plain(text.bytes, from + 1, until - 1, writer, ordinal) ||
      until - from > 2 && StringText.kind(text, from + 1, until - 1) == StringText.Plain &&
      parse(UTF8String.fromBytes(text.bytes, from + 1, until - from - 2), writer, ordinal)
    } else number(text, from, until, writer, ordinal)

  /** Writes a usual form; false if it is none. */
  protected def plain(
      bytes: Array[Byte],
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean

  /** Writes what Spark's function finds. */
  protected def parse(string: UTF8String, writer: UnsafeWriter, ordinal: Int): Boolean

  /** Writes a value that is not a string. */
  protected def number(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean = false
}

/** DATE. */
final private[json] class DateReader extends ParsedReader {

  private[this] val time = new PlainTime

  override protected def plain(
      bytes: Array[Byte],
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean =
    until - from == 10 && time.readDate(bytes, from, until) && {
      writer.write(ordinal, time.days)
      true
    }

  override protected def parse(string: UTF8String, writer: UnsafeWriter, ordinal: Int): Boolean = {
    val days = DateTimeUtils.stringToDate(string)
    days.foreach(writer.write(ordinal, _))
    days.nonEmpty
  }

  override def writeNull(writer: UnsafeWriter, ordinal: Int): Unit = writer.setNull4Bytes(ordinal)

  override def width: Int = 4
}

/** TIMESTAMP, also from whole seconds. */
final private[json] class TimestampReader(zone: ZoneId) extends ParsedReader {

  private[this] val time = new PlainTime
  private[this] val numbers = new NumberText
  private[this] val isUtc = zone.normalized == ZoneOffset.UTC

  override protected def plain(
      bytes: Array[Byte],
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean =
    time.readTime(bytes, from, until) && {
      val hasZone = time.end == until - 1 && bytes(time.end) == 'Z'
      (hasZone || (isUtc && time.end == until)) && {
        writer.write(ordinal, time.localMicros)
        true
      }
    }

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

/** TIMESTAMP_NTZ. */
final private[json] class LocalTimestampReader extends ParsedReader {

  private[this] val time = new PlainTime

  override protected def plain(
      bytes: Array[Byte],
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean =
    time.readTime(bytes, from, until) && time.end == until && {
      writer.write(ordinal, time.localMicros)
      true
    }

  override protected def parse(string: UTF8String, writer: UnsafeWriter, ordinal: Int): Boolean = {
    val micros = DateTimeUtils.stringToTimestampWithoutTimeZone(string, allowTimeZone = false)
    micros.foreach(writer.write(ordinal, _))
    micros.nonEmpty
  }

  override def writeNull(writer: UnsafeWriter, ordinal: Int): Unit = writer.setNull8Bytes(ordinal)
}

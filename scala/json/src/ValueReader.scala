package io.firesteel.json

import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeWriter

/**
 * Writes values of one type into a row or an array, as `from_json` reads them.
 *
 * [[JsonText]] has checked the grammar of a value and knows its end.
 */
abstract private[json] class ValueReader {

  /** Writes the value between the places; false if Spark must read it. */
  final def read(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean =
    if (text.byteAt(from) == 'n') {
      writeNull(writer, ordinal)
      true
    } else write(text, from, until, writer, ordinal)

  /** The same for a value that is not null. */
  protected def write(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean

  def writeNull(writer: UnsafeWriter, ordinal: Int): Unit

  /** Bytes of an element in an array. */
  def width: Int = 8
}

/** A value of eight bytes, or one with a place and a length of eight bytes together. */
abstract private[json] class WideReader extends ValueReader {
  final override def writeNull(writer: UnsafeWriter, ordinal: Int): Unit =
    writer.setNull8Bytes(ordinal)
}

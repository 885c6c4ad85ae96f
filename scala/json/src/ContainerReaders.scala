package io.firesteel.json

import org.apache.spark.sql.catalyst.expressions.codegen.{UnsafeArrayWriter, UnsafeRowWriter, UnsafeWriter}
import org.apache.spark.unsafe.Platform

/**
 * Writes a struct whose members have been found. Fields are written in the order of the schema, so
 * that equal structs have equal bytes, whatever the order in the document.
 *
 * @param slots each field's place among the found members; negative for a field that is always null
 */
final private[json] class StructWriter(slots: Array[Int], fields: Array[ValueReader]) {

  private[this] var parent: UnsafeWriter = _
  private[this] var row: UnsafeRowWriter = _

  def write(
      text: JsonText,
      members: Members,
      writer: UnsafeWriter,
      ordinal: Int): Boolean = {
    if (parent ne writer) {
      parent = writer
      row = new UnsafeRowWriter(writer, fields.length)
    }
    val before = writer.cursor
    row.resetRowWriter()
    var exact = true
    var i = 0
    while (exact && i < fields.length) {
      val slot = slots(i)
      if (slot < 0 || members.starts(slot) < 0) fields(i).writeNull(row, i)
      else exact = fields(i).read(text, members.starts(slot), members.ends(slot), row, i)
      i += 1
    }
    writer.setOffsetAndSizeFromPreviousCursor(ordinal, before)
    exact
  }
}

/** STRUCT. */
final private[json] class StructReader(names: Array[Array[Byte]], fields: Array[ValueReader])
  extends WideReader {

  private[this] val members = new Members(names)
  private[this] val struct = new StructWriter(fields.indices.toArray, fields)

  override protected def write(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean =
    text.byteAt(from) == '{' && members.find(text, from + 1, 0) >= 0 &&
      struct.write(text, members, writer, ordinal)
}

/** Elements or members, written as an array of Spark's. */
final private[json] class ElementWriter(element: ValueReader) {

  private[this] var parent: UnsafeWriter = _
  private[this] var array: UnsafeArrayWriter = _

  /** Writes the values at the given places to where the writer stands. */
  def write(text: JsonText, places: Places, writer: UnsafeWriter): Boolean = {
    if (parent ne writer) {
      parent = writer
      array = new UnsafeArrayWriter(writer, element.width)
    }
    array.initialize(places.size)
    var exact = true
    var i = 0
    while (exact && i < places.size) {
      exact = element.read(text, places.start(i), places.end(i), array, i)
      i += 1
    }
    exact
  }
}

/** ARRAY. */
final private[json] class ArrayReader(element: ValueReader) extends WideReader {

  private[this] val places = new Places
  private[this] val elements = new ElementWriter(element)

  override protected def write(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean =
    text.byteAt(from) == '[' && {
      places.ofElements(text, from + 1)
      val before = writer.cursor
      val exact = elements.write(text, places, writer)
      writer.setOffsetAndSizeFromPreviousCursor(ordinal, before)
      exact
    }
}

/** MAP of strings to values. Spark keeps every member, so that a name may occur twice. */
final private[json] class MapReader(value: ValueReader) extends WideReader {

  private[this] val names = new Places
  private[this] val values = new Places
  private[this] val nameWriter = new ElementWriter(new StringReader)
  private[this] val valueWriter = new ElementWriter(value)

  override protected def write(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean =
    text.byteAt(from) == '{' && {
      Places.ofMembers(text, from + 1, names, values)
      val before = writer.cursor
      // Spark's form of a map: the size of the names, the names, the values.
      writer.grow(8)
      writer.increaseCursor(8)
      val start = writer.cursor
      val exact = nameWriter.write(text, names, writer) && {
        // A cursor is an address that Platform takes.
        Platform.putLong(writer.getBuffer, start - 8L, (writer.cursor - start).toLong)
        valueWriter.write(text, values, writer)
      }
      writer.setOffsetAndSizeFromPreviousCursor(ordinal, before)
      exact
    }
}

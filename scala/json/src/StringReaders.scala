package io.firesteel.json

import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeWriter

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

/** STRING in files: the characters of a string, and any other value as it stands there. */
final private[json] class SourceReader extends WideReader {

  private[this] val strings = new StringReader

  override protected def write(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean =
    if (text.byteAt(from) == '"') strings.text(text, from, until, writer, ordinal)
    else {
      writer.write(ordinal, text.bytes, from, until - from)
      true
    }
}

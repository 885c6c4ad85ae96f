package io.firesteel.json

/**
 * A value as text, as Jackson's generator writes what its parser has read: without spaces, escapes
 * in one form, numbers as Java prints them.
 *
 * The grammar of the value has been checked. Characters above U+FFFF are Spark's: versions of Jackson
 * write them in different ways.
 */
final private[json] class Rendering {

  private[this] val numbers = new NumberText

  /** Adds the value between the places; false if Spark must write it. */
  def add(text: JsonText, from: Int, until: Int, into: TextBuffer): Boolean =
    text.byteAt(from) match {
      case '"' => addString(text, from, until, into)
      case '{' | '[' => addContainer(text, from, until, into)
      case 't' | 'f' | 'n' =>
        into.add(text.bytes, from, until)
        true
      case _ => addNumber(text, from, until, into)
    }

  private def addString(text: JsonText, from: Int, until: Int, into: TextBuffer): Boolean =
    StringText.kind(text, from + 1, until - 1) match {
      case StringText.Plain =>
        into.add(text.bytes, from, until)
        !Utf8.hasPairs(text.bytes, from, until)
      case StringText.Escaped if Utf8.hasPairs(text.bytes, from, until) => false
      case StringText.Escaped =>
        into.add('"')
        val whole = StringText.escapeAgain(text, from + 1, until - 1, into)
        into.add('"')
        whole
      case _ => false
    }

  private def addNumber(text: JsonText, from: Int, until: Int, into: TextBuffer): Boolean = {
    val bytes = text.bytes
    if (numbers.isInteger(bytes, from, until)) {
      // The only integer with two forms.
      if (until - from == 2 && bytes(from) == '-' && bytes(from + 1) == '0') into.add('0')
      else into.add(bytes, from, until)
      true
    } else {
      val read = numbers.readDouble(bytes, from, until)
      if (read) into.addAscii(java.lang.Double.toString(numbers.double))
      read
    }
  }

  /** Braces, brackets, commas and colons are copied, spaces are left out, the rest is rendered. */
  private def addContainer(text: JsonText, from: Int, until: Int, into: TextBuffer): Boolean = {
    var at = from
    var whole = true
    while (whole && at < until) {
      val byte = text.byteAt(at)
      byte match {
        case '{' | '}' | '[' | ']' | ',' | ':' =>
          into.add(byte)
          at += 1
        case _ if JsonText.isSpace(byte) => at += 1
        case _ =>
          val end = text.skipValue(at, 0)
          whole = add(text, at, end, into)
          at = end
      }
    }
    whole
  }
}

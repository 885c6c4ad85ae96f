package io.firesteel.json

/** The characters of a string whose grammar [[JsonText]] has checked. */
private[json] object StringText {

  /** What a string's bytes are. */
  final val Plain = 0
  final val Escaped = 1
  final val Malformed = 2

  /**
   * Whether the bytes between the quotes are the characters themselves, have escapes, or are
   * malformed UTF-8, which Spark replaces.
   */
  def kind(text: JsonText, from: Int, until: Int): Int = {
    val bytes = text.bytes
    var at = from
    var escapes = 0L
    var wide = 0L
    while (at + 8 <= until) {
      val word = Swar.load(bytes, at)
      escapes |= Swar.backslash(word)
      wide |= Swar.nonAscii(word)
      at += 8
    }
    while (at < until) {
      val byte = bytes(at)
      if (byte == '\\') escapes = 1L
      wide |= byte & 0x80L
      at += 1
    }
    if (wide != 0 && !Utf8.isValid(bytes, from, until)) Malformed
    else if (escapes != 0) Escaped
    else Plain
  }

  /**
   * Adds the characters of an escaped string; false if it has a surrogate without its pair, which
   * Spark writes as a question mark.
   */
  def unescape(text: JsonText, from: Int, until: Int, into: TextBuffer): Boolean =
    eachPart(text, from, until, into)((buffer, point) => buffer.addCodePoint(point))

  /**
   * The same as JSON text: only what Jackson's generator escapes is escaped. It is also false for
   * characters above U+FFFF.
   */
  def escapeAgain(text: JsonText, from: Int, until: Int, into: TextBuffer): Boolean = {
    val start = into.length
    eachPart(text, from, until, into)(addEscaped) && !Utf8.hasPairs(into.bytes, start, into.length)
  }

  private def eachPart(text: JsonText, from: Int, until: Int, into: TextBuffer)(
      add: (TextBuffer, Int) => Unit): Boolean = {
    val bytes = text.bytes
    var at = from
    var run = from
    while (at >= 0 && at < until) {
      if (bytes(at) != '\\') at += 1
      else {
        into.add(bytes, run, at)
        if (bytes(at + 1) != 'u') {
          add(into, simple(bytes(at + 1)))
          at += 2
        } else {
          val point = codePoint(text, at)
          if (point < 0) at = JsonText.HandOver
          else {
            add(into, point)
            at += (if (point < 0x10000) 6 else 12)
          }
        }
        run = at
      }
    }
    if (at >= 0) into.add(bytes, run, until)
    at >= 0
  }

  private def simple(escape: Byte): Int = escape match {
    case 'b' => '\b'
    case 'f' => '\f'
    case 'n' => '\n'
    case 'r' => '\r'
    case 't' => '\t'
    case other => other.toInt
  }

  /** The character of one `\\u`, or of two for a pair of surrogates; negative for half a pair. */
  private def codePoint(text: JsonText, at: Int): Int = {
    val unit = text.hexAt(at + 2).toChar
    if (!Character.isSurrogate(unit)) unit.toInt
    else if (Character.isLowSurrogate(unit)) JsonText.HandOver
    else if (text.byteAt(at + 6) != '\\' || text.byteAt(at + 7) != 'u') JsonText.HandOver
    else {
      val low = text.hexAt(at + 8).toChar
      if (Character.isLowSurrogate(low)) Character.toCodePoint(unit, low) else JsonText.HandOver
    }
  }

  private def addEscaped(into: TextBuffer, point: Int): Unit = {
    val short = point match {
      case '"' | '\\' => point
      case '\b' => 'b'.toInt
      case '\f' => 'f'.toInt
      case '\n' => 'n'.toInt
      case '\r' => 'r'.toInt
      case '\t' => 't'.toInt
      case _ => 0
    }
    if (short != 0) {
      into.add('\\')
      into.add(short)
    } else if (point < ' ') into.addAscii(f"\\u$point%04X")
    else into.addCodePoint(point)
  }
}

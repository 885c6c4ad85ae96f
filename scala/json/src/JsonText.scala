package io.firesteel.json

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/**
 * The grammar of JSON over the bytes of one document.
 *
 * A function that skips something takes the place where it begins, and returns the place after it.
 * It returns [[JsonText.HandOver]] for everything that is not plain RFC 8259, and for documents near
 * a limit of Jackson's. Spark's own parser then decides what that is. So no function here must know
 * which deviations Spark accepts.
 *
 * Strings that are skipped may have malformed UTF-8. Spark replaces malformed bytes, and never takes
 * a byte of ASCII for a part of them. So the grammar is not affected.
 *
 * Source: RFC 8259; limits: Jackson's `StreamReadConstraints`.
 *
 * @param plainNames whether names with escapes are handed over. Jackson's parser of bytes refuses
 *   some, also where they are skipped.
 */
final private[json] class JsonText(plainNames: Boolean = false) {
  import JsonText._

  private[this] var buffer: Array[Byte] = Array.emptyByteArray
  private[this] var begin = 0
  private[this] var limit = 0
  private[this] var escapes = false

  def set(json: UTF8String): Unit = json.getBaseObject match {
    case bytes: Array[Byte] =>
      buffer = bytes
      begin = (json.getBaseOffset - Platform.BYTE_ARRAY_OFFSET).toInt
      limit = begin + json.numBytes
    case _ =>
      buffer = json.getBytes
      begin = 0
      limit = buffer.length
  }

  def bytes: Array[Byte] = buffer

  def start: Int = begin

  def end: Int = limit

  /** The byte at `at`; 0, which JSON never has, at the end. */
  def byteAt(at: Int): Int = if (at < limit) buffer(at).toInt else 0

  /** Whether the string that was skipped last has a backslash. */
  def hasEscapes: Boolean = escapes

  def skipSpace(from: Int): Int = {
    var at = from
    while (isSpace(byteAt(at))) at += 1
    at
  }

  /** Skips a value, which begins at `at` without space. */
  def skipValue(at: Int, depth: Int): Int = byteAt(at) match {
    case '"' => skipString(at + 1)
    case '{' => if (depth < MaxDepth) skipObject(at + 1, depth + 1) else HandOver
    case '[' => if (depth < MaxDepth) skipArray(at + 1, depth + 1) else HandOver
    case 't' => skipWord(at, TRUE)
    case 'f' => skipWord(at, FALSE)
    case 'n' => skipWord(at, NULL)
    case _ => skipNumber(at)
  }

  /** Skips the rest of a string, after its opening quote. */
  def skipString(from: Int): Int = {
    var at = from
    var after = Unknown
    escapes = false
    while (after == Unknown) {
      val mask = Swar.special(word(at))
      if (mask == 0) at += 8
      else {
        at += Swar.first(mask)
        byteAt(at) match {
          case '"' => after = at + 1
          case '\\' =>
            escapes = true
            at = skipEscape(at)
            if (at < 0) after = HandOver
          case _ => after = HandOver
        }
      }
    }
    after
  }

  private def skipEscape(at: Int): Int = byteAt(at + 1) match {
    case '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => at + 2
    case 'u' if hexAt(at + 2) >= 0 => at + 6
    case _ => HandOver
  }

  /** The value of four hexadecimal digits; negative if they are none. */
  def hexAt(at: Int): Int =
    (digit(byteAt(at)) << 12) | (digit(byteAt(at + 1)) << 8) | (digit(byteAt(at + 2)) << 4) |
      digit(byteAt(at + 3))

  private def digit(byte: Int): Int =
    if (byte >= '0' && byte <= '9') byte - '0'
    else if (byte >= 'a' && byte <= 'f') byte - 'a' + 10
    else if (byte >= 'A' && byte <= 'F') byte - 'A' + 10
    else -1

  private def skipNumber(from: Int): Int = {
    var at = if (byteAt(from) == '-') from + 1 else from
    val first = byteAt(at)
    if (!isDigit(first)) HandOver
    else {
      at = if (first == '0') at + 1 else skipDigits(at)
      if (byteAt(at) == '.') at = if (isDigit(byteAt(at + 1))) skipDigits(at + 1) else HandOver
      if (at >= 0 && (byteAt(at) | 0x20) == 'e') {
        val sign = byteAt(at + 1)
        val exponent = if (sign == '+' || sign == '-') at + 2 else at + 1
        at = if (isDigit(byteAt(exponent))) skipDigits(exponent) else HandOver
      }
      if (at - from > MaxNumber) HandOver else at
    }
  }

  private def skipDigits(from: Int): Int = {
    var at = from
    var other = 0L
    while (other == 0L && at <= limit - 8) {
      other = Swar.notDigit(Swar.load(buffer, at))
      at += (if (other == 0L) 8 else Swar.first(other))
    }
    if (other == 0L) while (isDigit(byteAt(at))) at += 1
    at
  }

  private def skipWord(from: Int, word: Array[Byte]): Int = {
    var i = 0
    while (i < word.length && byteAt(from + i) == word(i)) i += 1
    if (i == word.length) from + i else HandOver
  }

  private def skipObject(from: Int, depth: Int): Int = {
    var at = skipSpace(from)
    if (byteAt(at) == '}') at + 1
    else {
      var after = Unknown
      while (after == Unknown) {
        at = if (byteAt(at) == '"') skipName(at + 1) else HandOver
        if (at >= 0) at = skipColon(at)
        if (at >= 0) at = skipValue(at, depth)
        if (at < 0) after = HandOver
        else {
          at = skipSpace(at)
          val next = byteAt(at)
          if (next == ',') at = skipSpace(at + 1)
          else after = if (next == '}') at + 1 else HandOver
        }
      }
      after
    }
  }

  /** Skips the rest of a member's name, after its opening quote. */
  def skipName(from: Int): Int = {
    val after = skipString(from)
    if (after - from > MaxName || (plainNames && escapes)) HandOver else after
  }

  /** Skips what is between a name and its value. */
  def skipColon(from: Int): Int = {
    val at = skipSpace(from)
    if (byteAt(at) == ':') skipSpace(at + 1) else HandOver
  }

  private def skipArray(from: Int, depth: Int): Int = {
    var at = skipSpace(from)
    if (byteAt(at) == ']') at + 1
    else {
      var after = Unknown
      while (after == Unknown) {
        at = skipValue(at, depth)
        if (at < 0) after = HandOver
        else {
          at = skipSpace(at)
          val next = byteAt(at)
          if (next == ',') at = skipSpace(at + 1)
          else after = if (next == ']') at + 1 else HandOver
        }
      }
      after
    }
  }

  /** Eight bytes from `at`; those after the end are 0. */
  def word(at: Int): Long =
    if (at <= limit - 8) Swar.load(buffer, at)
    else {
      var word = 0L
      var i = limit - 1
      while (i >= at) {
        word = (word << 8) | (buffer(i) & 0xff)
        i -= 1
      }
      word
    }
}

private[json] object JsonText {

  /** Spark's own parser must read the document, or the value. */
  final val HandOver = -1

  /** Nobody asks for the rest of the document. */
  final val Stopped = -2

  private final val Unknown = 0

  /** Jackson stops at 1000; the functions here call themselves. */
  final val MaxDepth = 100

  /** Jackson stops at numbers of 1000 characters. */
  private final val MaxNumber = 200

  /** Jackson stops at names of 50 000 characters. */
  private final val MaxName = 20000

  /** Jackson stops at strings of 20 million characters. */
  final val MaxDocument = 10000000

  private val TRUE = "true".getBytes
  private val FALSE = "false".getBytes
  private val NULL = "null".getBytes

  def isSpace(byte: Int): Boolean =
    byte <= ' ' && (byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t')

  def isDigit(byte: Int): Boolean = byte >= '0' && byte <= '9'
}

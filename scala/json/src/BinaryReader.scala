package io.firesteel.json

import java.util.{Arrays, Base64}

import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeWriter

/**
 * BINARY: the bytes that a string has in Base64. Jackson also takes spaces and escapes, and an empty
 * string is Spark's matter.
 */
final private[json] class BinaryReader extends WideReader {
  import BinaryReader._

  override protected def write(
      text: JsonText,
      from: Int,
      until: Int,
      writer: UnsafeWriter,
      ordinal: Int): Boolean =
    text.byteAt(from) == '"' && isPlain(text.bytes, from + 1, until - 1) && {
      val encoded = Arrays.copyOfRange(text.bytes, from + 1, until - 1)
      writer.write(ordinal, Base64.getDecoder.decode(encoded))
      true
    }

  /** Whether these are groups of four characters, the last of which may end in padding. */
  private def isPlain(bytes: Array[Byte], from: Int, until: Int): Boolean = {
    val padding = if (until - from < 4 || bytes(until - 1) != '=') 0
    else if (bytes(until - 2) == '=') 2
    else 1
    var at = from
    while (at < until - padding && bytes(at) >= 0 && isDigit(bytes(at).toInt)) at += 1
    until > from && (until - from) % 4 == 0 && at == until - padding
  }
}

private object BinaryReader {
  private val isDigit: Array[Boolean] = {
    val digits = ('A' to 'Z') ++ ('a' to 'z') ++ ('0' to '9') ++ Seq('+', '/')
    Array.tabulate(128)(code => digits.contains(code.toChar))
  }
}

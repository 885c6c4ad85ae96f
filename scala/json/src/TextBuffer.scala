package io.firesteel.json

import java.util.Arrays

/**
 * Bytes of a text that is being made. Memory: as much as the longest text of the task.
 */
final private[json] class TextBuffer {

  private[this] var buffer = new Array[Byte](256)
  private[this] var size = 0

  def bytes: Array[Byte] = buffer

  def length: Int = size

  def clear(): Unit = size = 0

  def add(byte: Int): Unit = {
    ensure(1)
    buffer(size) = byte.toByte
    size += 1
  }

  def add(from: Array[Byte], start: Int, until: Int): Unit = {
    val count = until - start
    ensure(count)
    System.arraycopy(from, start, buffer, size, count)
    size += count
  }

  /** A text of ASCII. */
  def addAscii(text: String): Unit = {
    ensure(text.length)
    var i = 0
    while (i < text.length) {
      buffer(size + i) = text.charAt(i).toByte
      i += 1
    }
    size += text.length
  }

  /** A character in UTF-8; no surrogate. */
  def addCodePoint(point: Int): Unit =
    if (point < 0x80) add(point)
    else if (point < 0x800) {
      add(0xc0 | (point >> 6))
      add(0x80 | (point & 0x3f))
    } else if (point < 0x10000) {
      add(0xe0 | (point >> 12))
      add(0x80 | ((point >> 6) & 0x3f))
      add(0x80 | (point & 0x3f))
    } else {
      add(0xf0 | (point >> 18))
      add(0x80 | ((point >> 12) & 0x3f))
      add(0x80 | ((point >> 6) & 0x3f))
      add(0x80 | (point & 0x3f))
    }

  private def ensure(more: Int): Unit =
    if (size + more > buffer.length) {
      buffer = Arrays.copyOf(buffer, math.max(buffer.length * 2, size + more))
    }
}

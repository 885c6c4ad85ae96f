package io.firesteel.json

/** What UTF-8 allows, as Java's decoder takes it. */
private[json] object Utf8 {

  /** Whether the bytes are well-formed: shortest forms, no surrogates, nothing above U+10FFFF. */
  def isValid(bytes: Array[Byte], from: Int, until: Int): Boolean = {
    var at = from
    while (at >= 0 && at < until) {
      if (at + 8 <= until && Swar.nonAscii(Swar.load(bytes, at)) == 0) at += 8
      else if (bytes(at) >= 0) at += 1
      else at = afterWide(bytes, at, until)
    }
    at >= 0
  }

  /** Whether well-formed bytes have a character that UTF-16 writes as a pair. */
  def hasPairs(bytes: Array[Byte], from: Int, until: Int): Boolean = {
    var at = from
    while (at < until && (bytes(at) & 0xff) < 0xf0) at += 1
    at < until
  }

  /** The place after a character of two or more bytes; negative if it is malformed. */
  private def afterWide(bytes: Array[Byte], at: Int, until: Int): Int = {
    val lead = bytes(at) & 0xff
    val second = if (at + 1 < until) bytes(at + 1) & 0xff else 0
    if (lead < 0xc2 || lead > 0xf4) -1
    else if (lead < 0xe0) if (isNext(second)) at + 2 else -1
    else if (lead < 0xf0) {
      val low = if (lead == 0xe0) 0xa0 else 0x80
      val high = if (lead == 0xed) 0x9f else 0xbf
      if (second >= low && second <= high && nextAt(bytes, at + 2, until)) at + 3 else -1
    } else {
      val low = if (lead == 0xf0) 0x90 else 0x80
      val high = if (lead == 0xf4) 0x8f else 0xbf
      val inside = second >= low && second <= high
      if (inside && nextAt(bytes, at + 2, until) && nextAt(bytes, at + 3, until)) at + 4 else -1
    }
  }

  private def nextAt(bytes: Array[Byte], at: Int, until: Int): Boolean =
    at < until && isNext(bytes(at) & 0xff)

  private def isNext(byte: Int): Boolean = (byte & 0xc0) == 0x80
}

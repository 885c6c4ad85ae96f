package io.firesteel.json

/**
 * The names of an object's members, in the order in which they were last seen.
 *
 * Memory: at most 2048 names of at most 64 bytes.
 */
final private[json] class NameOrder {
  import NameOrder._

  private[this] var words: Array[Array[Long]] = new Array(16)
  private[this] var masks: Array[Long] = new Array(16)
  private[this] var lengths: Array[Int] = new Array(16)
  private[this] var targets: Array[Int] = new Array(16)

  /**
   * The place after the closing quote, if the text at `at` is the known name of this member;
   * negative if not.
   */
  def matches(text: JsonText, at: Int, member: Int): Int =
    if (member >= words.length) -1
    else {
      val name = words(member)
      if (name == null || at + name.length * 8 > text.end) -1
      else {
        val last = name.length - 1
        var i = 0
        while (i < last && Swar.load(text.bytes, at + i * 8) == name(i)) i += 1
        val same = i == last && (Swar.load(text.bytes, at + i * 8) & masks(member)) == name(i)
        if (same) at + lengths(member) else -1
      }
    }

  def target(member: Int): Int = targets(member)

  /** Keeps a name; `until` is after its closing quote, which belongs to the comparison. */
  def remember(bytes: Array[Byte], from: Int, until: Int, member: Int, target: Int): Unit =
    if (member < MaxMembers && until - from <= MaxLength) {
      while (member >= words.length) grow()
      val length = until - from
      val name = new Array[Long]((length + 7) / 8)
      for (i <- 0 until length) name(i / 8) |= (bytes(from + i) & 0xffL) << (i % 8 * 8)
      val rest = length % 8
      words(member) = name
      masks(member) = if (rest == 0) -1L else (1L << (rest * 8)) - 1
      lengths(member) = length
      targets(member) = target
    }

  private def grow(): Unit = {
    val size = words.length * 2
    words = words.padTo(size, null)
    masks = masks.padTo(size, 0L)
    lengths = lengths.padTo(size, 0)
    targets = targets.padTo(size, 0)
  }
}

private[json] object NameOrder {
  private val MaxMembers = 2048
  private val MaxLength = 64
}

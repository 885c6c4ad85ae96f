package io.firesteel.skew

/**
 * The distinct pairs of a group and a number.
 *
 * A *chunk* is 32 adjacent numbers, equal except for their last five bits. A chunk takes one slot
 * and has a bit mask for its numbers. Dense numbers take little more than a bit each and fit into
 * the processor's cache. Sparse numbers take as much as without chunks.
 *
 * The table is drained in the order of its hashes. If a growing table is filled in its own hash
 * order, all entries are at one end and each insert scans them. So a table that is filled from
 * another one uses another *salt* ([[Hashes.salt]]).
 *
 * Memory: an open-addressing table, at least two fifths of it free, with 16 bytes a slot: the
 * chunk, the mask, and the group + 1. A probe touches one cache line.
 */
private[skew] final class DistinctNumbers(groupHash: Int => Int, salt: Long)
  extends DistinctValues {
  import DistinctNumbers._

  private[this] var bits = initialBits
  private[this] var slots = new Array[Long](2 << bits)
  private[this] var used = 0
  private[this] var count = 0
  private[this] var touched = 0L

  override def size: Int = count

  override def bytes: Long = slots.length * 8L

  /** At its largest size, a number that no budget grants. */
  override def growth: Long =
    if (used * 5L <= slots.length / 2 * 3L) 0L
    else if (bits >= 29) Long.MaxValue >> 2
    else bytes * 2

  def hash(group: Int, chunk: Long): Long = Hashes.ofPair(groupHash(group), chunk) ^ salt

  /**
   * Loads the slot of this hash into the cache, for an `add` that follows. Several such reads
   * overlap; adds wait for each other.
   */
  def touch(hash: Long): Unit = touched += slots(2 * Hashes.slot(hash, bits) + 1)

  /** Adds numbers of one chunk and returns the new ones as a mask. */
  def add(group: Int, chunk: Long, mask: Int, hash: Long): Int = {
    val last = slots.length / 2 - 1
    val owner = group + 1L
    var at = Hashes.slot(hash, bits)
    var held = slots(2 * at + 1)
    while (held != 0L && !((held & ownerBits) == owner && slots(2 * at) == chunk)) {
      at = (at + 1) & last
      held = slots(2 * at + 1)
    }
    if (held == 0L) {
      slots(2 * at) = chunk
      held = owner
      used += 1
    }
    val fresh = mask & ~(held >>> 32).toInt
    if (fresh != 0) {
      slots(2 * at + 1) = held | (fresh.toLong << 32)
      count += Integer.bitCount(fresh)
    }
    fresh
  }

  override def grow(): Unit = {
    val old = slots
    bits += 1
    slots = new Array[Long](2 << bits)
    val last = slots.length / 2 - 1
    var from = 0
    while (from < old.length) {
      if (old(from + 1) != 0L) {
        var at = Hashes.slot(hash(groupOf(old(from + 1)), old(from)), bits)
        while (slots(2 * at + 1) != 0L) at = (at + 1) & last
        slots(2 * at) = old(from)
        slots(2 * at + 1) = old(from + 1)
      }
      from += 2
    }
  }

  override def drain(column: Int, writer: BlockWriter, from: Int): Int = {
    val until = math.min(from + DistinctValues.someSlots, slots.length / 2)
    var at = from * 2
    while (at < until * 2) {
      if (slots(at + 1) != 0L)
        writer.numbers(column, groupOf(slots(at + 1)), slots(at), (slots(at + 1) >>> 32).toInt)
      at += 2
    }
    if (at < slots.length) until
    else {
      bits = initialBits
      slots = new Array[Long](2 << bits)
      used = 0
      count = 0
      -1
    }
  }
}

private[skew] object DistinctNumbers {
  private val initialBits = 10
  private val ownerBits = 0xffffffffL

  def chunkOf(number: Long): Long = number >> 5

  def bitOf(number: Long): Int = 1 << (number.toInt & 31)

  /** The number that belongs to the lowest bit of the mask. */
  def numberOf(chunk: Long, mask: Int): Long =
    (chunk << 5) | Integer.numberOfTrailingZeros(mask).toLong

  private def groupOf(held: Long): Int = (held & ownerBits).toInt - 1
}

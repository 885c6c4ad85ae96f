package io.firesteel.skew

/**
 * The distinct pairs of a group and a number.
 *
 * Memory: an open-addressing table of which at least two fifths are free, 16 bytes a slot: the
 * number, and the group + 1 with the upper half left for nothing, so that a probe touches one cache
 * line.
 */
private[skew] final class DistinctNumbers(groupHash: Int => Int) extends DistinctValues {

  private[this] var bits = DistinctNumbers.initialBits
  private[this] var slots = new Array[Long](2 << bits)
  private[this] var count = 0

  override def size: Int = count

  override def bytes: Long = slots.length * 8L

  override def growth: Long = if (count * 5L > slots.length / 2 * 3L) bytes * 2 else 0L

  /** True when the pair is new. */
  def add(group: Int, number: Long, hash: Long): Boolean = {
    val mask = slots.length / 2 - 1
    val owner = group + 1L
    var at = Hashes.slot(hash, bits)
    var held = slots(2 * at + 1)
    while (held != 0L && !(held == owner && slots(2 * at) == number)) {
      at = (at + 1) & mask
      held = slots(2 * at + 1)
    }
    if (held != 0L) false
    else {
      slots(2 * at) = number
      slots(2 * at + 1) = owner
      count += 1
      true
    }
  }

  override def grow(): Unit = {
    val old = slots
    bits += 1
    slots = new Array[Long](2 << bits)
    count = 0
    var at = 0
    while (at < old.length) {
      if (old(at + 1) != 0L) {
        val group = (old(at + 1) - 1L).toInt
        val _ = add(group, old(at), Hashes.ofNumber(groupHash(group), old(at)))
      }
      at += 2
    }
  }

  override def drain(column: Int, writer: BlockWriter): Unit = {
    var at = 0
    while (at < slots.length) {
      if (slots(at + 1) != 0L) {
        val group = (slots(at + 1) - 1L).toInt
        writer.number(column, group, slots(at), Hashes.ofNumber(groupHash(group), slots(at)))
      }
      at += 2
    }
    bits = DistinctNumbers.initialBits
    slots = new Array[Long](2 << bits)
    count = 0
  }
}

private[skew] object DistinctNumbers {
  private val initialBits = 10
}

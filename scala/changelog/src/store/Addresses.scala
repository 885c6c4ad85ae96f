package io.firesteel.changelog.store

/**
 * The address of each entry's pair of rows, by the entry's number; 0 if the entry is gone. Numbers
 * are in blocks. What was [[frozen]] stays: a block is copied before it changes for the first time.
 */
final private[store] class Addresses {
  import Addresses._

  private[this] var blocks = new Array[Array[Long]](4)
  private[this] var owned = new Array[Int](4) // the turn in which a block was made or copied
  private[this] var turn = 1

  def apply(entry: Int): Long = of(blocks, entry)

  /** Bytes of the blocks that hold so many entries. */
  def bytes(entries: Int): Long = ((entries + last) >>> bits).toLong * size * 8L

  /** @param entry has an address, or is the next one that gets one */
  def update(entry: Int, address: Long): Unit = {
    val i = entry >>> bits
    if (i == blocks.length) {
      blocks = java.util.Arrays.copyOf(blocks, 2 * i)
      owned = java.util.Arrays.copyOf(owned, 2 * i)
    }
    if (owned(i) != turn) {
      blocks(i) = if (blocks(i) == null) new Array[Long](size) else blocks(i).clone()
      owned(i) = turn
    }
    blocks(i)(entry & last) = address
  }

  /** The blocks of as many entries as they are now. */
  def frozen(entries: Int): Array[Array[Long]] = {
    turn += 1
    java.util.Arrays.copyOf(blocks, (entries + last) >>> bits)
  }

  /** Takes the addresses that were frozen. */
  def restore(frozen: Array[Array[Long]]): Unit = {
    turn += 1
    blocks = java.util.Arrays.copyOf(frozen, math.max(4, frozen.length))
    owned = new Array[Int](blocks.length)
  }
}

private[store] object Addresses {
  private val bits = 10
  private val size = 1 << bits
  private val last = size - 1

  def of(blocks: Array[Array[Long]], entry: Int): Long = blocks(entry >>> bits)(entry & last)
}

package io.firesteel.skew

/**
 * A batch of numbers to add to a table. The table is larger than the processor's cache. Reads that
 * do not wait for each other take a fraction of the time.
 */
private[skew] final class NumberBatch(table: DistinctNumbers) {
  import NumberBatch._

  private[this] val groups = new Array[Int](capacity)
  private[this] val chunks = new Array[Long](capacity)
  private[this] val masks = new Array[Int](capacity)
  private[this] val hashes = new Array[Long](capacity)
  private[this] var count = 0

  /** Numbers in the batch. */
  def size: Int = count

  def isFull: Boolean = count == capacity

  def put(group: Int, chunk: Long, mask: Int): Unit = {
    groups(count) = group
    chunks(count) = chunk
    masks(count) = mask
    count += 1
  }

  /** Adds the batch to the table and calls `fresh` with each new group, chunk and mask. */
  def add(fresh: Fresh): Unit = {
    var i = 0
    while (i < count) {
      val hash = table.hash(groups(i), chunks(i))
      hashes(i) = hash
      table.touch(hash)
      i += 1
    }
    i = 0
    while (i < count) {
      val mask = table.add(groups(i), chunks(i), masks(i), hashes(i))
      if (mask != 0) fresh.numbers(groups(i), chunks(i), mask)
      i += 1
    }
    count = 0
  }
}

private[skew] object NumberBatch {

  /** Numbers in a batch. When a table asks to grow, it still has this much room. */
  val capacity: Int = 64

  trait Fresh {
    def numbers(group: Int, chunk: Long, mask: Int): Unit
  }
}

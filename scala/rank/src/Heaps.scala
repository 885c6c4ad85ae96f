package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The rows kept of all keys seen so far, within a memory budget.
 *
 * Offering a row takes two calls, so that a caller need not build the row of the many that are
 * not wanted: `admits(key, prefix)`, and only if that is true `add(row)`.
 */
private[rank] final class Heaps(bound: RankBound, val order: RowOrder, budget: MemoryBudget) {

  private[this] val byKey = new RowsByKey(KeptRows.factory(bound))
  private[this] var rowBytes: Long = 0L
  private[this] var rowCount: Long = 0L
  private[this] var current: KeptRows = _
  private[this] var currentPrefix: Long = 0L
  private[this] var held: Long = 0L

  /** Rows kept. */
  def size: Long = rowCount

  def isEmpty: Boolean = rowCount == 0L

  /** Whether a row of `key` with this prefix may have to be kept. */
  def admits(key: UnsafeRow, prefix: Long): Boolean = {
    current = byKey.of(key)
    currentPrefix = prefix
    prefix <= current.bar
  }

  /**
   * Offers the row asked about last. False when the budget refuses what is now held: the caller
   * must then empty the heaps. The row itself is not lost: it is among those held.
   */
  def add(row: UnsafeRow): Boolean = {
    val before = current.size
    rowBytes += current.offer(currentPrefix, row, order)
    rowCount += current.size - before
    val total = rowBytes + byKey.bytes
    if (total <= held) true
    else {
      held = total + Heaps.slack
      budget.hold(held)
    }
  }

  /**
   * Takes everything out, key by key, giving memory back on the way. The heaps are empty, and may
   * be offered rows again, once the iterator is at its end.
   *
   * @param advance bytes to give back before the first key, for whoever takes the rows
   */
  def takeAll(advance: Long = 0L): Iterator[KeptRows] = {
    var left = rowBytes + byKey.bytes - advance
    // The entries have much the same size: giving back the mean of each is near enough.
    val perKey = if (byKey.size == 0) 0L else left / byKey.size
    var told = left
    budget.releaseTo(math.max(0L, left))
    rowBytes = 0L
    rowCount = 0L
    held = 0L
    current = null
    byKey.drain().map { entry =>
      entry.close()
      left -= perKey
      if (told - left > Heaps.slack) {
        told = left
        budget.releaseTo(math.max(0L, left))
      }
      entry
    }
  }

  /** Gives all memory back, after `takeAll` has been read to its end. */
  def release(): Unit = budget.releaseTo(0L)
}

private[rank] object Heaps {

  /** Bytes by which the budget is asked ahead, so that it is not asked for every row. */
  val slack: Long = 64L << 10
}

package io.firesteel.rank

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * `ROW_NUMBER() <= limit`: a binary heap whose top is the worst row kept.
 *
 * Memory: `limit` rows. Cost of an offer: O(log limit) comparisons when the row is kept, one when
 * it is not.
 */
private[rank] class FirstRows(hash: Int, key: Array[Byte], limit: Int)
  extends KeptRows(hash, key) {

  protected[this] final var prefixes: Array[Long] = new Array[Long](1)
  protected[this] final var rows: Array[Array[Byte]] = new Array[Array[Byte]](1)
  protected[this] final var heapSize: Int = 0

  override def size: Int = heapSize

  override def rowAt(i: Int): Array[Byte] = rows(i)

  override def prefixAt(i: Int): Long = prefixes(i)

  override def offer(prefix: Long, row: UnsafeRow, order: RowOrder): Long =
    if (heapSize < limit) add(prefix, RowOrder.copy(row), order)
    else {
      val againstWorst = order.compareKept(prefixes(0), rows(0), prefix, row)
      if (againstWorst > 0) replaceWorst(prefix, row, order)
      else if (againstWorst == 0) offerTie(prefix, row)
      else 0L
    }

  /** A row equal to the worst of a full heap. `ROW_NUMBER` may drop either of the two. */
  protected def offerTie(prefix: Long, row: UnsafeRow): Long = 0L

  /** Puts a row better than the worst in the worst one's place. */
  protected def replaceWorst(prefix: Long, row: UnsafeRow, order: RowOrder): Long = {
    val before = rows(0).length
    val bytes = RowOrder.copy(row, rows(0))
    siftDown(prefix, bytes, heapSize, order)
    setBar(order)
    (bytes.length - before).toLong
  }

  /** The bar of a full heap; `tiesMatter` when a row equal to the worst must still be offered. */
  protected def setBar(order: RowOrder, tiesMatter: Boolean = false): Unit = {
    val worst = prefixes(0)
    val excludesTies = !tiesMatter && order.decides(worst) && worst != Long.MinValue
    bar = if (excludesTies) worst - 1 else worst
  }

  private def add(prefix: Long, bytes: Array[Byte], order: RowOrder): Long = {
    if (heapSize == rows.length) {
      val capacity = math.min(limit.toLong, heapSize * 2L + 2L).toInt
      prefixes = Arrays.copyOf(prefixes, capacity)
      rows = Arrays.copyOf(rows, capacity)
    }
    siftUp(prefix, bytes, order)
    if (heapSize == limit) fillBar(order)
    bytes.length + KeptRows.rowOverhead
  }

  /** Called when the heap has just become full. */
  protected def fillBar(order: RowOrder): Unit = setBar(order)

  private def siftUp(prefix: Long, bytes: Array[Byte], order: RowOrder): Unit = {
    var at = heapSize
    heapSize += 1
    var parent = (at - 1) >>> 1
    while (at > 0 && order.compare(prefixes(parent), rows(parent), prefix, bytes) < 0) {
      prefixes(at) = prefixes(parent)
      rows(at) = rows(parent)
      at = parent
      parent = (at - 1) >>> 1
    }
    prefixes(at) = prefix
    rows(at) = bytes
  }

  /** Places a row from the top of the first `count` rows downwards. */
  protected final def siftDown(
      prefix: Long,
      bytes: Array[Byte],
      count: Int,
      order: RowOrder): Unit = {
    var at = 0
    var child = 1
    var placed = false
    while (!placed && child < count) {
      val other = child + 1
      if (other < count &&
        order.compare(prefixes(other), rows(other), prefixes(child), rows(child)) > 0) {
        child = other
      }
      if (order.compare(prefixes(child), rows(child), prefix, bytes) > 0) {
        prefixes(at) = prefixes(child)
        rows(at) = rows(child)
        at = child
        child = 2 * at + 1
      } else placed = true
    }
    prefixes(at) = prefix
    rows(at) = bytes
  }

  /** Heap sort: the worst goes to the end, then the worst of the rest. */
  override def sort(order: RowOrder): Unit = {
    var last = heapSize - 1
    while (last > 0) {
      val worstPrefix = prefixes(0)
      val worst = rows(0)
      siftDown(prefixes(last), rows(last), last, order)
      prefixes(last) = worstPrefix
      rows(last) = worst
      last -= 1
    }
  }
}

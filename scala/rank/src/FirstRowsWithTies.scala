package io.firesteel.rank

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * `RANK() <= limit`: the first `limit` rows and every row equal to the last of them.
 *
 * A heap of `limit` rows, and beside it the rows that tie with its worst. When the worst leaves the
 * heap, its ties stay only if the new worst is equal to it: otherwise `limit` rows are better.
 *
 * Memory: `limit` rows and the ties, which no number bounds; the owner watches the bytes.
 */
private[rank] final class FirstRowsWithTies(hash: Int, key: Array[Byte], limit: Int)
  extends FirstRows(hash, key, limit) {

  private[this] var ties: Array[Array[Byte]] = FirstRowsWithTies.none
  private[this] var tieCount: Int = 0
  private[this] var tieBytes: Long = 0L
  private[this] var tiePrefix: Long = 0L

  override def size: Int = heapSize + tieCount

  override def rowAt(i: Int): Array[Byte] = if (i < heapSize) rows(i) else ties(i - heapSize)

  override def prefixAt(i: Int): Long = if (i < heapSize) prefixes(i) else tiePrefix

  override protected def fillBar(order: RowOrder): Unit = setBar(order, tiesMatter = true)

  override protected def offerTie(prefix: Long, row: UnsafeRow): Long =
    addTie(prefix, RowOrder.copy(row))

  override protected def replaceWorst(prefix: Long, row: UnsafeRow, order: RowOrder): Long = {
    val worstPrefix = prefixes(0)
    val worst = rows(0)
    val bytes = RowOrder.copy(row)
    siftDown(prefix, bytes, heapSize, order)
    setBar(order, tiesMatter = true)
    val grown = bytes.length + KeptRows.rowOverhead
    if (order.compare(prefixes(0), rows(0), worstPrefix, worst) == 0) {
      // The row that left was counted when it came; only the new one is more.
      addTie(worstPrefix, worst)
      grown
    } else grown - (worst.length + KeptRows.rowOverhead) - dropTies()
  }

  private def addTie(prefix: Long, bytes: Array[Byte]): Long = {
    if (tieCount == ties.length) ties = Arrays.copyOf(ties, math.max(4, tieCount * 2))
    ties(tieCount) = bytes
    tieCount += 1
    tiePrefix = prefix
    val grown = bytes.length + KeptRows.rowOverhead
    tieBytes += grown
    grown
  }

  private def dropTies(): Long = {
    val freed = tieBytes
    ties = FirstRowsWithTies.none
    tieCount = 0
    tieBytes = 0L
    freed
  }
}

private[rank] object FirstRowsWithTies {
  private val none: Array[Array[Byte]] = Array.empty
}

package io.firesteel.rank

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * `DENSE_RANK() <= limit`: every row whose order value is among the first `limit` distinct ones.
 *
 * Distinct values in an array sorted by value, each with its rows; a value is found by binary
 * search and makes room by moving references, at most `limit` of them.
 *
 * Memory: the rows of `limit` values, which no number bounds; the owner watches the bytes.
 */
private[rank] final class FirstValues(hash: Int, key: Array[Byte], limit: Int)
  extends KeptRows(hash, key) {

  private[this] var prefixes: Array[Long] = new Array[Long](1)
  private[this] var values: Array[RowsOfValue] = new Array[RowsOfValue](1)
  private[this] var valueCount: Int = 0
  private[this] var rowCount: Int = 0
  private[this] var sortedRows: Array[Array[Byte]] = _
  private[this] var sortedPrefixes: Array[Long] = _

  override def size: Int = rowCount

  override def offer(prefix: Long, row: UnsafeRow, order: RowOrder): Long = {
    val found = search(prefix, row, order)
    if (found >= 0) addTo(values(found), row)
    else {
      val at = -(found + 1)
      if (at == limit) 0L
      else {
        val dropped = if (valueCount == limit) dropLast() else 0L
        insert(at, prefix)
        val grown = addTo(values(at), row)
        if (valueCount == limit) bar = prefixes(valueCount - 1)
        grown - dropped
      }
    }
  }

  /** The place of the row's value, or `-(place + 1)` of where it would go. */
  private def search(prefix: Long, row: UnsafeRow, order: RowOrder): Int = {
    var low = 0
    var high = valueCount - 1
    var found = -1
    while (found < 0 && low <= high) {
      val middle = (low + high) >>> 1
      val c = order.compareKept(prefixes(middle), values(middle).rows(0), prefix, row)
      if (c < 0) low = middle + 1
      else if (c > 0) high = middle - 1
      else found = middle
    }
    if (found >= 0) found else -(low + 1)
  }

  private def addTo(value: RowsOfValue, row: UnsafeRow): Long = {
    val bytes = RowOrder.copy(row)
    value.add(bytes)
    rowCount += 1
    bytes.length + KeptRows.rowOverhead
  }

  private def dropLast(): Long = {
    valueCount -= 1
    val last = values(valueCount)
    values(valueCount) = null
    rowCount -= last.count
    last.bytes + last.count * KeptRows.rowOverhead
  }

  private def insert(at: Int, prefix: Long): Unit = {
    if (valueCount == values.length) {
      val capacity = math.min(limit.toLong, valueCount * 2L + 2L).toInt
      prefixes = Arrays.copyOf(prefixes, capacity)
      values = Arrays.copyOf(values, capacity)
    }
    System.arraycopy(prefixes, at, prefixes, at + 1, valueCount - at)
    System.arraycopy(values, at, values, at + 1, valueCount - at)
    prefixes(at) = prefix
    values(at) = new RowsOfValue
    valueCount += 1
  }

  override def close(): Unit = {
    sortedRows = new Array[Array[Byte]](rowCount)
    sortedPrefixes = new Array[Long](rowCount)
    var to = 0
    var v = 0
    while (v < valueCount) {
      val value = values(v)
      System.arraycopy(value.rows, 0, sortedRows, to, value.count)
      Arrays.fill(sortedPrefixes, to, to + value.count, prefixes(v))
      to += value.count
      v += 1
    }
    values = null
  }

  /** The values have been in order all along. */
  override def sort(order: RowOrder): Unit = ()

  override def rowAt(i: Int): Array[Byte] = sortedRows(i)

  override def prefixAt(i: Int): Long = sortedPrefixes(i)
}

/** The rows of one order value. */
private[rank] final class RowsOfValue {
  var rows: Array[Array[Byte]] = new Array[Array[Byte]](1)
  var count: Int = 0
  var bytes: Long = 0L

  def add(row: Array[Byte]): Unit = {
    if (count == rows.length) rows = Arrays.copyOf(rows, count * 2)
    rows(count) = row
    count += 1
    bytes += row.length
  }
}

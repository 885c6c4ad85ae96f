package io.firesteel.changelog.fold

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The rows of one key, each with the sum of its insertions less its retractions. Most keys
 * have one row, which is kept without an index.
 */
final private[changelog] class FoldedRows {
  private[this] var only: UnsafeRow = _
  private[this] var onlyCount = 0L
  private[this] var index: RowIndex = _ // once there are several
  private[this] var counts: Array[Long] = _
  private[this] var isSettled = true

  def size: Int = if (index != null) index.size else if (only != null) 1 else 0
  def row(at: Int): UnsafeRow = if (index == null) only else index.row(at)
  def count(at: Int): Long = if (index == null) onlyCount else counts(at)
  def hashOf(at: Int): Int = if (index == null) RowIndex.hash(only) else index.hashOf(at)

  /** The place of a row; -1 if it is not there. */
  def indexOf(row: UnsafeRow): Int =
    if (index != null) index.indexOf(row) else if (only != null && only.equals(row)) 0 else -1

  /** Adds to the sum of a row; a new one is copied. */
  def add(row: UnsafeRow, count: Long): Unit =
    if (index == null && only == null) begin(row, count)
    else if (index == null && only.equals(row)) onlyCount += count
    else {
      toIndex()
      addTo(index.placeOf(row, copied = true), count)
    }

  /** Adds a copy of a row, whatever rows are there, until [[settle]]. */
  def append(row: UnsafeRow, count: Long): Unit =
    if (index == null && only == null) begin(row, count)
    else {
      toIndex()
      isSettled = false
      index.append(row.copy())
      addTo(size - 1, count)
    }

  private def begin(row: UnsafeRow, count: Long): Unit = {
    only = row.copy()
    onlyCount = count
  }

  private def toIndex(): Unit = if (index == null) {
    index = new RowIndex
    index.append(only)
    counts = Array(onlyCount, 0L)
    only = null
  }

  private def addTo(at: Int, count: Long): Unit = {
    if (at >= counts.length) counts = Arrays.copyOf(counts, 2 * counts.length)
    counts(at) += count
  }

  /** Makes equal rows one. */
  def settle(): Unit = if (!isSettled) {
    val (all, were) = (index, counts)
    index = new RowIndex
    counts = new Array[Long](were.length)
    var i = 0
    while (i < all.size) {
      counts(index.placeOf(all.row(i), copied = false)) += were(i)
      i += 1
    }
    isSettled = true
  }

  /** Forgets all rows. */
  def clear(): Unit = {
    only = null
    index = null
    counts = null
    isSettled = true
  }
}

private[changelog] object FoldedRows {

  /** No rows, for all keys. */
  val none: FoldedRows = new FoldedRows
}

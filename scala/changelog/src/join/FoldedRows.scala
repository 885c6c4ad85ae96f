package io.firesteel.changelog.join

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The rows of one key and side, each with the sum of its insertions less its retractions. */
final private[join] class FoldedRows {
  private[this] var index = new RowIndex
  private[this] var counts = new Array[Long](2)
  private[this] var isSettled = true

  def size: Int = index.size
  def row(at: Int): UnsafeRow = index.row(at)
  def count(at: Int): Long = counts(at)
  def hashOf(at: Int): Int = index.hashOf(at)

  /** The place of a row; -1 if it is not there. */
  def indexOf(row: UnsafeRow): Int = if (size == 0) -1 else index.indexOf(row)

  /** Adds to the sum of a row; a new one is copied. */
  def add(row: UnsafeRow, count: Long): Unit = {
    val at = index.placeOf(row, copied = true)
    if (at >= counts.length) counts = Arrays.copyOf(counts, 2 * counts.length)
    counts(at) += count
  }

  /** Adds a copy of a row, whatever rows are there, until [[settle]]. */
  def append(row: UnsafeRow, count: Long): Unit = {
    isSettled = false
    index.append(row.copy())
    if (size > counts.length) counts = Arrays.copyOf(counts, 2 * counts.length)
    counts(size - 1) += count
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
    index = new RowIndex
    Arrays.fill(counts, 0L)
  }
}

private[join] object FoldedRows {

  /** No rows, for all keys. */
  val none: FoldedRows = new FoldedRows
}

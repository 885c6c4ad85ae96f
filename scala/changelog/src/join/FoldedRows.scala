package io.firesteel.changelog.join

import java.util.{Arrays, HashMap}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Places of rows in an array. Most keys of a join have a row or two, for which a scan is faster and
 * smaller than a hash table; an array of more than a few gets one.
 */
final private[join] class RowIndex {
  import RowIndex._

  private[this] var rows = new Array[UnsafeRow](2)
  private[this] var places: HashMap[UnsafeRow, Integer] = _

  var size: Int = 0

  def row(at: Int): UnsafeRow = rows(at)

  /** The place of a row; -1 if it is not there. */
  def indexOf(row: UnsafeRow): Int =
    if (places != null) {
      val at = places.get(row)
      if (at == null) -1 else at.intValue
    } else {
      var i = size - 1
      while (i >= 0 && !rows(i).equals(row)) i -= 1
      i
    }

  /** Adds a row that is not there; it is not copied. */
  def add(row: UnsafeRow): Unit = {
    if (size == rows.length) rows = Arrays.copyOf(rows, 2 * size)
    rows(size) = row
    size += 1
    if (places != null) {
      val _ = places.put(row, Integer.valueOf(size - 1))
    } else if (size > scanned) {
      places = new HashMap[UnsafeRow, Integer](4 * scanned)
      (0 until size).foreach(i => places.put(rows(i), Integer.valueOf(i)))
    }
  }
}

private[join] object RowIndex {

  /** Rows that are scanned. */
  private val scanned: Int = 8
}

/** The rows of one key and side, each with the sum of its insertions less its retractions. */
final private[join] class FoldedRows {
  private[this] var index = new RowIndex
  private[this] var counts = new Array[Long](2)

  def size: Int = index.size
  def row(at: Int): UnsafeRow = index.row(at)
  def count(at: Int): Long = counts(at)

  /** The place of a row; -1 if it is not there. */
  def indexOf(row: UnsafeRow): Int = if (size == 0) -1 else index.indexOf(row)

  /** Adds to the sum of a row; a new one is copied. */
  def add(row: UnsafeRow, count: Long): Unit = {
    var at = index.indexOf(row)
    if (at < 0) {
      at = size
      if (at == counts.length) counts = Arrays.copyOf(counts, 2 * at)
      index.add(row.copy())
    }
    counts(at) += count
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

/**
 * A row whose number of copies changes in this micro-batch.
 *
 * @param matchesBefore the rows of the other side that it matched, if state counts them
 */
final private[join] class ChangedRow(
    val row: UnsafeRow,
    val before: Long,
    val after: Long,
    val matchesBefore: Long) {
  var matchesAfter: Long = matchesBefore
  def isNew: Boolean = before == 0L
  def change: Long = after - before
}

/** The changed rows of one key and side, which are all different. */
final private[join] class ChangedRows {
  private[this] val index = new RowIndex
  private[this] var all = new Array[ChangedRow](2)

  /** How many of them were there before. */
  var old: Int = 0

  def size: Int = index.size
  def isEmpty: Boolean = size == 0
  def apply(at: Int): ChangedRow = all(at)
  def contains(row: UnsafeRow): Boolean = size > 0 && index.indexOf(row) >= 0

  def add(its: ChangedRow): Unit = {
    if (size == all.length) all = Arrays.copyOf(all, 2 * size)
    all(size) = its
    index.add(its.row)
    if (!its.isNew) old += 1
  }

  def foreach(visit: ChangedRow => Unit): Unit = {
    var i = 0
    while (i < size) {
      visit(all(i))
      i += 1
    }
  }

  def iterator: Iterator[ChangedRow] = Iterator.range(0, size).map(all(_))
}

private[join] object ChangedRows {

  /** No rows, for all keys. */
  val none: ChangedRows = new ChangedRows
}

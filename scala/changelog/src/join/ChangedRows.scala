package io.firesteel.changelog.join

import io.firesteel.changelog.fold.RowIndex
import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * A row whose number of copies changes in this micro-batch.
 *
 * @param matchesBefore the rows of the other side that it matched, if state counts them
 * @param known its hash, if that is known and not 0
 */
final private[join] class ChangedRow(
    val row: UnsafeRow,
    val before: Long,
    val after: Long,
    val matchesBefore: Long,
    private[this] var known: Int = 0) {
  var matchesAfter: Long = matchesBefore
  def isNew: Boolean = before == 0L
  def change: Long = after - before

  def hash: Int = {
    if (known == 0) known = RowIndex.hash(row)
    known
  }
}

/** The changed rows of one key and side, which are all different. */
final private[join] class ChangedRows {
  private[this] var all = new Array[ChangedRow](2)
  private[this] var there: RowIndex = _ // the old ones, once they are asked for

  /** How many of them were there before. */
  var old: Int = 0

  var size: Int = 0

  def isEmpty: Boolean = size == 0
  def apply(at: Int): ChangedRow = all(at)

  /** Whether a row of state is one of them. */
  def contains(row: UnsafeRow): Boolean = old > 0 && {
    if (there == null) {
      there = new RowIndex
      foreach(its => if (!its.isNew) { val _ = there.placeOf(its.row, copied = false) })
    }
    there.indexOf(row) >= 0
  }

  def add(its: ChangedRow): Unit = {
    if (size == all.length) all = Arrays.copyOf(all, 2 * size)
    all(size) = its
    size += 1
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

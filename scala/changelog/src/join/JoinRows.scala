package io.firesteel.changelog.join

import io.firesteel.changelog.fold.FoldedRows
import io.firesteel.changelog.plan.JoinedSide

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The rows of both sides in state, key by key. One instance per task. */
private[join] trait JoinState {
  def left: JoinRows
  def right: JoinRows

  /** Turns to a key: until the next one, both sides are its rows. */
  def open(key: UnsafeRow): Unit

  /** Writes what has changed of the key's rows. */
  def close(): Unit
}

/** A row in state. The next row may overwrite it. */
final private[join] class StoredRow {
  var row: UnsafeRow = _
  var copies: Long = 0L
  var matches: Long = 0L
}

/** The rows of one side in state, of the key that is open. */
abstract private[join] class JoinRows(side: JoinedSide) {

  /**
   * The row in state, or null. The next row that is asked for may overwrite it.
   *
   * @param hash the row's hash, if [[usesHash]]
   */
  protected def find(row: UnsafeRow, hash: Int): StoredRow

  /** The only row of a key that has at most one, or null. */
  protected def only: StoredRow

  /** The number of copies that a sum of insertions less retractions leaves. */
  protected def present(copies: Long): Long

  /** Whether the key has rows beside the changed ones. */
  def hasOthers(changed: ChangedRows): Boolean

  /**
   * The key's rows beside the changed ones, to be read to the end. Meanwhile the last one may be
   * put again.
   */
  def others(changed: ChangedRows): Iterator[StoredRow]

  /** Puts a row of [[others]] again with other matches. */
  def putMatches(row: StoredRow, matches: Long): Unit

  protected def put(its: ChangedRow): Unit

  protected def remove(its: ChangedRow): Unit

  final def countsMatches: Boolean = side.countsMatches

  /** Prepares for the new rows among these. */
  protected def makeRoom(changed: ChangedRows): Unit = ()

  /** Whether rows are found by their hash. */
  protected def usesHash: Boolean = false

  /** An order in which rows are found or put with fewer reads; null if none is better. */
  protected def inOrder(size: Int)(hash: Int => Int): Array[Int] = null

  /** Whether the key's rows are so few that they are in memory. */
  def areFew: Boolean

  /** The changes of the key's rows against state. Nothing is written. */
  final def changes(folded: FoldedRows): ChangedRows =
    if (folded.size == 0) ChangedRows.none
    else {
      val changed = new ChangedRows
      if (side.single) ofOne(folded, changed)
      else {
        val order = inOrder(folded.size)(folded.hashOf)
        var i = 0
        while (i < folded.size) {
          val at = if (order == null) i else order(i)
          if (folded.count(at) != 0L)
            ofRow(folded.row(at), if (usesHash) folded.hashOf(at) else 0, folded.count(at), changed)
          i += 1
        }
      }
      changed
    }

  private def ofRow(row: UnsafeRow, hash: Int, count: Long, changed: ChangedRows): Unit = {
    val old = find(row, hash)
    val (before, matches) = if (old == null) (0L, 0L) else (old.copies, old.matches)
    val after = present(before + count)
    if (after != before) changed.add(new ChangedRow(row, before, after, matches, hash))
  }

  /**
   * A row of a key that has one replaces it, whether or not the old one is retracted. A deletion
   * where updates come without the row before them deletes what is there.
   */
  private def ofOne(folded: FoldedRows, changed: ChangedRows): Unit = {
    val found = only
    val old = if (found == null) null else found.row.copy()
    val matches = if (found == null) 0L else found.matches
    var newest: UnsafeRow = null
    var goes = false
    (0 until folded.size).foreach { i =>
      if (folded.count(i) > 0L) newest = folded.row(i)
      else if (folded.count(i) < 0L && (side.replaces || folded.row(i) == old)) goes = true
    }
    if (newest == null && !goes || newest != null && newest == old) ()
    else {
      if (old != null) changed.add(new ChangedRow(old, 1L, 0L, matches))
      if (newest != null) changed.add(new ChangedRow(newest, 0L, 1L, 0L))
    }
  }

  final def put(changed: ChangedRows): Unit = {
    // A key with one row may have it under no name of its own, so the new row is written last.
    changed.foreach(its => if (its.after == 0L) remove(its))
    makeRoom(changed)
    val order = inOrder(changed.size)(changed(_).hash)
    var i = 0
    while (i < changed.size) {
      val its = changed(if (order == null) i else order(i))
      if (its.after != 0L) put(its)
      i += 1
    }
  }
}

private[join] object JoinRows {

  /** Whether and why an input is asked for the rows before updates, in words. */
  def updateBefore(side: JoinedSide, insertOnly: Boolean): String =
    if (insertOnly) "not asked, rows only come"
    else if (side.replaces) "not asked, state has the row of the key"
    else "asked if there are updates, state finds a row by all of its columns"

  /**
   * What state keeps of a side, in words.
   *
   * @param isTable whether the side is a table that is no stream
   */
  def text(side: JoinedSide, isTable: Boolean): String = {
    val rows = if (side.single) "one row for each key" else "rows and their number of copies"
    val matches = if (side.countsMatches) ", each with the number of its matches" else ""
    val read = if (isTable) "; the table is read once, in the first micro-batch" else ""
    rows + matches + read + side.bound.fold("")(its => s"; ${its.text}")
  }
}

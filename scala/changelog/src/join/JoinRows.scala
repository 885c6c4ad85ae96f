package io.firesteel.changelog.join

import io.firesteel.changelog.fold.Tally
import io.firesteel.changelog.plan.JoinedSide

import java.util.LinkedHashMap

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

private[join] object ChangedRow {
  type Map = LinkedHashMap[UnsafeRow, ChangedRow]
}

/** The rows of one side in state, of the key that is open. */
abstract private[join] class JoinRows(side: JoinedSide) {

  /** The row in state, or null. The next row that is asked for may overwrite it. */
  protected def find(row: UnsafeRow): StoredRow

  /** The only row of a key that has at most one, or null. */
  protected def only: StoredRow

  /** The number of copies that a sum of insertions less retractions leaves. */
  protected def present(copies: Long): Long

  /** Whether the key has rows beside the changed ones. */
  def hasOthers(changed: ChangedRow.Map): Boolean

  /**
   * The key's rows beside the changed ones, to be read to the end. Meanwhile the last one may be
   * put again.
   */
  def others(changed: ChangedRow.Map): Iterator[StoredRow]

  /** Puts a row of [[others]] again with other matches. */
  def putMatches(row: StoredRow, matches: Long): Unit

  protected def put(row: UnsafeRow, copies: Long, matches: Long): Unit

  protected def remove(row: UnsafeRow): Unit

  final def countsMatches: Boolean = side.countsMatches

  /** The changes of the key's rows against state. Nothing is written. */
  final def changes(tallies: Tally.Map): ChangedRow.Map = {
    val changed = new ChangedRow.Map
    if (side.single) ofOne(tallies, changed)
    else tallies.forEach { (row, tally) =>
      if (tally.count != 0L) {
        val old = find(row)
        val (before, matches) = if (old == null) (0L, 0L) else (old.copies, old.matches)
        val after = present(before + tally.count)
        if (after != before) {
          val _ = changed.put(row, new ChangedRow(row, before, after, matches))
        }
      }
    }
    changed
  }

  /** A row of a key that has one replaces it, whether or not the old one is retracted. */
  private def ofOne(tallies: Tally.Map, changed: ChangedRow.Map): Unit = {
    val found = if (tallies.isEmpty) null else only
    val old = if (found == null) null else found.row.copy()
    val matches = if (found == null) 0L else found.matches
    var newest: UnsafeRow = null
    var goes = false
    tallies.forEach { (row, tally) =>
      if (tally.count > 0L) newest = row
      else if (tally.count < 0L && row == old) goes = true
    }
    if (newest == null && !goes || newest != null && newest == old) ()
    else {
      if (old != null) {
        val _ = changed.put(old, new ChangedRow(old, 1L, 0L, matches))
      }
      if (newest != null) {
        val _ = changed.put(newest, new ChangedRow(newest, 0L, 1L, 0L))
      }
    }
  }

  final def put(changed: ChangedRow.Map): Unit = {
    // A key with one row may have it under no name of its own, so the new row is written last.
    changed.values.forEach(its => if (its.after == 0L) remove(its.row))
    changed.values.forEach(its => if (its.after != 0L) put(its.row, its.after, its.matchesAfter))
  }
}

private[join] object JoinRows {

  /**
   * What state keeps of a side, in words.
   *
   * @param isTable whether the side is a table that is no stream
   */
  def text(side: JoinedSide, isTable: Boolean): String = {
    val rows = if (side.single) "one row for each key" else "rows and their number of copies"
    val matches = if (side.countsMatches) ", each with the number of its matches" else ""
    val read = if (isTable) "; the table is read once, in the first micro-batch" else ""
    rows + matches + read
  }
}

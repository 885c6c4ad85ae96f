package io.firesteel.changelog.join

import io.firesteel.changelog.fold.Tally
import io.firesteel.changelog.plan.JoinedSide
import io.firesteel.changelog.state.{StateEntries, StateTable, TableLayout}

import java.util.LinkedHashMap

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, GenericInternalRow, JoinedRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType, StructField, StructType}

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

/** The rows of one side in state. One instance per task. */
final private[join] class JoinRows(table: StateTable, entries: StateEntries, side: JoinedSide) {

  private[this] val width = side.stored.size
  private[this] val types = side.stored.map(_.dataType)
  private[this] val nothing =
    UnsafeProjection.create(Array.empty[DataType])(InternalRow.empty).copy()
  private[this] val numbers = new GenericInternalRow(if (side.countsMatches) 2 else 1)
  private[this] val joined = new JoinedRow
  private[this] val longs = numbers.values.indices.map(_ => LongType: DataType)
  private[this] val toValue =
    UnsafeProjection.create((if (side.single) types ++ longs else longs).toArray[DataType])
  private[this] val toRow = UnsafeProjection.create(types.zipWithIndex.map { case (t, i) =>
    BoundReference(i, t, nullable = true)
  })
  private[this] val copiesAt = if (side.single) width else 0
  private[this] val stored = new StoredRow

  def countsMatches: Boolean = side.countsMatches

  /** The changes of a key's rows against state. Nothing is written. */
  def changes(key: UnsafeRow, tallies: Tally.Map): ChangedRow.Map = {
    val changed = new ChangedRow.Map
    if (side.single) ofOne(key, tallies, changed)
    else tallies.forEach { (row, tally) =>
      if (tally.count != 0L) {
        val old = read(row, table.get(key, row))
        val (before, matches) = if (old == null) (0L, 0L) else (old.copies, old.matches)
        val after = entries.present(before + tally.count)
        if (after != before) {
          val _ = changed.put(row, new ChangedRow(row, before, after, matches))
        }
      }
    }
    changed
  }

  /** A row of a key that has one replaces it, whether or not the old one is retracted. */
  private def ofOne(key: UnsafeRow, tallies: Tally.Map, changed: ChangedRow.Map): Unit = {
    val found = read(null, if (tallies.isEmpty) null else table.get(key, nothing))
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

  /** Whether a key has rows beside the changed ones. */
  def hasOthers(key: UnsafeRow, changed: ChangedRow.Map): Boolean =
    if (side.single) changed.isEmpty && table.get(key, nothing) != null
    else {
      var found = false
      table.scanWhile(key) { row =>
        found = !changed.containsKey(row)
        !found
      }
      found
    }

  /** A key's rows beside the changed ones, to be read to the end. */
  def others(key: UnsafeRow, changed: ChangedRow.Map): Iterator[StoredRow] =
    if (side.single) {
      if (changed.isEmpty) Option(read(null, table.get(key, nothing))).iterator else Iterator.empty
    } else {
      table.entriesOf(key).collect {
        case (row, value) if !changed.containsKey(row) => read(row, value)
      }
    }

  def put(key: UnsafeRow, changed: ChangedRow.Map): Unit = {
    // A key with one row has it under no name of its own, so the new row is written last.
    changed.values.forEach(its => if (its.after == 0L) table.remove(key, entryOf(its.row)))
    changed.values.forEach { its =>
      if (its.after != 0L) put(key, its.row, its.after, its.matchesAfter)
    }
  }

  def put(key: UnsafeRow, row: UnsafeRow, copies: Long, matches: Long): Unit = {
    numbers.setLong(0, copies)
    if (side.countsMatches) numbers.setLong(1, matches)
    table.put(key, entryOf(row), toValue(if (side.single) joined(row, numbers) else numbers))
  }

  private def entryOf(row: UnsafeRow): UnsafeRow = if (side.single) nothing else row

  private def read(row: UnsafeRow, value: UnsafeRow): StoredRow =
    if (value == null) null
    else {
      stored.row = if (side.single) toRow(value) else row
      stored.copies = value.getLong(copiesAt)
      stored.matches = if (side.countsMatches) value.getLong(copiesAt + 1) else 0L
      stored
    }
}

private[join] object JoinRows {

  def table(name: String, side: JoinedSide): TableLayout = {
    val columns = side.stored.zipWithIndex.map { case (c, i) =>
      StructField(s"column_$i", c.dataType, nullable = true)
    }
    val numbers = StructField("copies", LongType) +:
      (if (side.countsMatches) Seq(StructField("matches", LongType)) else Nil)
    if (side.single) TableLayout(name, StructType(Nil), StructType(columns ++ numbers))
    else TableLayout(name, StructType(columns), StructType(numbers))
  }

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

package io.firesteel.changelog.join

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.plan.JoinedSide
import io.firesteel.changelog.state.{StateEntries, StateLayout, StateTable, TableLayout}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, GenericInternalRow, JoinedRow, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType, StructField, StructType}

/** The state of a join with an entry for each row, as [[RowEntries]] lays it out. */
final private[join] class RowState(entries: StateEntries, layout: StateLayout, spec: JoinSpec)
  extends JoinState {

  private def rowsOf(side: JoinedSide, table: Int) =
    new RowEntries(new StateTable(entries, layout, table), entries, side)

  override val left: RowEntries = rowsOf(spec.left, 0)
  override val right: RowEntries = rowsOf(spec.right, 1)

  override def open(key: UnsafeRow): Unit = {
    left.key = key
    right.key = key
  }

  override def close(): Unit = ()
}

/**
 * The rows of one side, each in an entry of its own: a table of state for each side, in one store.
 * One instance per task.
 *
 * {{{
 *   table         | key                | entry           | value
 *   left, right   | key of the join    | the row         | number of copies, number of matches
 *   the same with | key of the join    |                 | the row, number of copies, matches
 *   one row a key
 * }}}
 *
 * With a time to live it is rows that expire, so each has an entry. Checkpoints of releases before
 * [[PackedState]] have this layout too, and keep it.
 */
final private[join] class RowEntries(table: StateTable, entries: StateEntries, side: JoinedSide)
  extends JoinRows(side) {

  /** The key that is open. */
  var key: UnsafeRow = _

  private[this] val width = side.stored.size
  private[this] val types = side.stored.map(_.dataType)
  private[this] val nothing =
    ColumnProjection(Array.empty[DataType])(InternalRow.empty).copy()
  private[this] val numbers = new GenericInternalRow(if (side.countsMatches) 2 else 1)
  private[this] val joined = new JoinedRow
  private[this] val longs = numbers.values.indices.map(_ => LongType: DataType)
  private[this] val toValue =
    ColumnProjection((if (side.single) types ++ longs else longs).toArray[DataType])
  private[this] val toRow = ColumnProjection(types.zipWithIndex.map { case (t, i) =>
    BoundReference(i, t, nullable = true)
  })
  private[this] val copiesAt = if (side.single) width else 0
  private[this] val stored = new StoredRow

  override protected def find(row: UnsafeRow, hash: Int): StoredRow = read(row, table.get(key, row))

  override protected def only: StoredRow = read(null, table.get(key, nothing))

  override def areFew: Boolean = side.single

  override protected def present(copies: Long): Long = entries.present(copies)

  override def hasOthers(changed: ChangedRows): Boolean =
    if (side.single) changed.isEmpty && table.get(key, nothing) != null
    else {
      var found = false
      table.scanWhile(key) { row =>
        found = !changed.contains(row)
        !found
      }
      found
    }

  override def others(changed: ChangedRows): Iterator[StoredRow] =
    if (side.single) {
      if (changed.isEmpty) Option(only).iterator else Iterator.empty
    } else {
      table.entriesOf(key).collect {
        case (row, value) if !changed.contains(row) => read(row, value)
      }
    }

  override def putMatches(row: StoredRow, matches: Long): Unit = put(row.row, row.copies, matches)

  override protected def put(its: ChangedRow): Unit = put(its.row, its.after, its.matchesAfter)

  private def put(row: UnsafeRow, copies: Long, matches: Long): Unit = {
    numbers.setLong(0, copies)
    if (side.countsMatches) numbers.setLong(1, matches)
    table.put(key, entryOf(row), toValue(if (side.single) joined(row, numbers) else numbers))
  }

  override protected def remove(its: ChangedRow): Unit = table.remove(key, entryOf(its.row))

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

private[join] object RowEntries {

  def layout(spec: JoinSpec): StateLayout = StateLayout.ofTables(
    "join",
    spec.left.keys.map(_.dataType),
    Seq(table("left", spec.left), table("right", spec.right)))

  private def table(name: String, side: JoinedSide): TableLayout = {
    val columns = side.stored.zipWithIndex.map { case (c, i) =>
      StructField(s"column_$i", c.dataType, nullable = true)
    }
    val numbers = StructField("copies", LongType) +:
      (if (side.countsMatches) Seq(StructField("matches", LongType)) else Nil)
    if (side.single) TableLayout(name, StructType(Nil), StructType(columns ++ numbers))
    else TableLayout(name, StructType(columns), StructType(numbers))
  }
}

package io.firesteel.changelog.filter

import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The changes that pass a filter. If one side of an update passes alone, the old row becomes a
 * deletion, the new row an insert.
 *
 * Requires each `-U` to be followed at once by its `+U`. Operators emit them so, and nothing below
 * reorders rows.
 */
final private[filter] class FilteredChanges(
    rows: Iterator[UnsafeRow],
    passesAt: Int,
    kindAt: Int)
  extends Iterator[InternalRow] {

  private[this] var ready: List[UnsafeRow] = Nil

  override def hasNext: Boolean = {
    while (ready.isEmpty && rows.hasNext) ready = read(rows.next())
    ready.nonEmpty
  }

  override def next(): InternalRow =
    if (hasNext) {
      val row = ready.head
      ready = ready.tail
      row
    } else throw new NoSuchElementException("no more changes")

  private def read(row: UnsafeRow): List[UnsafeRow] =
    if (row.getByte(kindAt) != RowKind.UpdateBefore) {
      if (passes(row)) List(row) else Nil
    } else {
      val before = row.copy()
      // Generated code computes the next row only after a call of `hasNext`.
      require(rows.hasNext, "an update without its second side")
      val after = rows.next()
      require(after.getByte(kindAt) == RowKind.UpdateAfter, "an update without its second side")
      (passes(before), passes(after)) match {
        case (true, true) => List(before, after)
        case (true, false) => List(as(before, RowKind.Delete))
        case (false, true) => List(as(after, RowKind.Insert))
        case (false, false) => Nil
      }
    }

  private def passes(row: UnsafeRow): Boolean = !row.isNullAt(passesAt) && row.getBoolean(passesAt)

  private def as(row: UnsafeRow, kind: Byte): UnsafeRow = {
    row.setByte(kindAt, kind)
    row
  }
}

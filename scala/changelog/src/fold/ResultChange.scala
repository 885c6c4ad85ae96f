package io.firesteel.changelog.fold

import io.firesteel.core.changes.RowKind

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The change of a row whose last column is its kind, which is set in place. */
private[changelog] object ResultChange {

  /**
   * @param before the row that was emitted last; null if there is none
   * @param after the row that takes its place; null if there is none
   */
  def apply(before: UnsafeRow, after: UnsafeRow, updateBefore: Boolean): List[InternalRow] =
    if (before == null && after == null) Nil
    else if (before == null) List(kind(after, RowKind.Insert))
    else if (after == null) List(kind(before, RowKind.Delete))
    else if (before == after) Nil
    else if (updateBefore) {
      List(kind(before, RowKind.UpdateBefore), kind(after, RowKind.UpdateAfter))
    } else List(kind(after, RowKind.UpdateAfter))

  private def kind(row: UnsafeRow, kind: Byte): UnsafeRow = {
    row.setByte(row.numFields - 1, kind)
    row
  }
}

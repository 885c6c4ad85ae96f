package io.firesteel.changelog.topn

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow, UnsafeProjection, UnsafeRow}

/** Builds an output row from a row, its place and its row kind. */
final private[topn] class PlacedOutput(toOutput: UnsafeProjection) {

  private[this] val joined = new JoinedRow
  private[this] val extra = new GenericInternalRow(2)

  def apply(row: UnsafeRow, place: Int, kind: Byte): InternalRow = {
    extra.setInt(0, place)
    extra.setByte(1, kind)
    toOutput(joined(row, extra))
  }
}

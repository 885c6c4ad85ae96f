package io.firesteel.changelog.aggregate

import io.firesteel.core.rows.ColumnProjection

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}

/** The values of sets in an input row. One per task. */
final private[aggregate] class ValueRows(layout: AggregateLayout) {

  private[this] val toValue: Array[UnsafeProjection] = layout.sets.map { set =>
    ColumnProjection(set.columns.zip(set.types).map { case (column, t) =>
      BoundReference(column, t, nullable = true)
    })
  }

  private[this] val sets = layout.sets

  /** The value of a set in a row; null if the row has none. */
  def of(row: InternalRow, set: Int): UnsafeRow =
    if (counts(row, sets(set))) toValue(set)(row) else null

  private def counts(row: InternalRow, set: ValueSet): Boolean =
    (set.keepsNulls || !set.columns.exists(row.isNullAt)) &&
      set.filter.forall(at => !row.isNullAt(at) && row.getBoolean(at))
}

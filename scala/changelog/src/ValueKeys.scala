package io.firesteel.changelog

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Literal, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.IntegerType

/** The keys of the values that an input row has. One per task. */
final private[changelog] class ValueKeys(layout: AggregateLayout) {

  private[this] val toKey: Array[UnsafeProjection] = layout.sets.zipWithIndex.map {
    case (_, set) =>
      val keys = layout.keyTypes.take(layout.numKeys).zipWithIndex.map { case (t, i) =>
        BoundReference(i, t, nullable = true)
      }
      val values = layout.sets.toSeq.zipWithIndex.flatMap { case (other, at) =>
        other.columns.zip(other.types).map { case (column, t) =>
          if (at == set) BoundReference(column, t, nullable = true) else Literal(null, t)
        }
      }
      UnsafeProjection.create((keys :+ Literal(set, IntegerType)) ++ values)
  }

  /** The key of the value of a set in a row; none where one of its columns is null. */
  def of(row: InternalRow, set: Int): Option[UnsafeRow] =
    if (layout.sets(set).columns.exists(row.isNullAt)) None else Some(toKey(set)(row))
}

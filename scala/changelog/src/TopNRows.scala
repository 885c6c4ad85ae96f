package io.firesteel.changelog

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, BoundReference, Expression, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType, StructType}

/**
 * The state of a Top-N: each row of a partition is a key of its own, and how often it is there the
 * value, so that a change of a row touches no other.
 *
 * {{{
 *   partition | columns of the row | count
 * }}}
 */
final private[changelog] case class TopNLayout(
    partition: Seq[Attribute],
    columns: Seq[Attribute],
    places: Places,
    retracting: Boolean) {

  private val name = "topn"

  /** Rows in state are rows of the input: its columns without the kind. */
  def state: StateLayout = {
    val of = partition.zipWithIndex.map { case (c, i) => s"partition_$i" -> c.dataType }
    val row = columns.zipWithIndex.map { case (c, i) => s"column_$i" -> c.dataType }
    val key = of ++ row
    // A smaller n may have dropped what a larger one needs.
    val kept =
      if (retracting) "count_of_all"
      else s"count_to_${places.to}_by_${places.function.name.toLowerCase(java.util.Locale.ROOT)}"
    StateLayout(
      name,
      StructType(key.map { case (n, t) => StateLayout.field(name, n, t) }),
      StructType(Seq(StateLayout.field(name, kept, LongType))),
      if (columns.isEmpty) 0 else partition.size
    )
  }
}

/** Makes keys and values of the store. One per task. */
final private[changelog] class TopNRows(layout: TopNLayout) {

  private[this] val of = layout.partition.map(_.dataType)
  private[this] val row = layout.columns.map(_.dataType)
  private[this] val toPartition = UnsafeProjection.create(refs(of, 0))
  private[this] val toOwn = UnsafeProjection.create(refs(of ++ row, 0))
  private[this] val count = UnsafeProjection.create(Array(LongType: DataType))

  def partitionOf(input: InternalRow): UnsafeRow = toPartition(input)

  /** An input row without its kind: the key of its entry in the store. */
  def rowOf(input: InternalRow): UnsafeRow = toOwn(input)

  def valueOf(copies: Long): UnsafeRow = count(InternalRow(copies))

  private def refs(types: Seq[DataType], from: Int): Seq[Expression] =
    types.zipWithIndex.map { case (t, i) => BoundReference(from + i, t, nullable = true) }
}

package io.firesteel.changelog.topn

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.plan.Places
import io.firesteel.changelog.state.StateLayout

import java.util.Locale

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, BoundReference, Expression, JoinedRow, NullsFirst, SortOrder, UnsafeRow}
import org.apache.spark.sql.types.{BinaryType, DataType, IntegerType, LongType, StructType}

/**
 * The state of a Top-N, by its strategy. Without retractions each row is a key, and its number of
 * copies the value; a Top-1 has the row as its value. With retractions, see [[FinalRetract]].
 *
 * {{{
 *   partition | columns of the row        | count
 *   partition |                           | columns of the first row
 *   partition | head 1 |                  | whether it has all | first rows
 *   partition | tail 0 | columns of a row | count              |
 * }}}
 */
final private[topn] case class TopNLayout(
    partition: Seq[Attribute],
    columns: Seq[Attribute],
    places: Places,
    order: Seq[SortOrder],
    retracting: Boolean) {

  private val name = "topn"

  /** Whether a partition has one row in state. */
  val isFirst: Boolean = places.isFirst && !retracting && columns.nonEmpty

  /** Rows in state are rows of the input without the row kind. */
  def state: StateLayout =
    if (isFirst)
      StateLayout(name, schema(of), schema(named(s"first_by$inOrder", columns)), prefix = 0)
    else if (retracting) {
      StateLayout(
        name,
        schema((of :+ ("part" -> IntegerType)) ++ row),
        schema(Seq("count" -> LongType, s"head_$upTo" -> BinaryType)),
        // Rows without columns are all equal: there is no tail.
        if (columns.isEmpty) 0 else partition.size + 1
      )
    } else {
      StateLayout(
        name,
        schema(of ++ row),
        schema(Seq(s"count_$upTo" -> LongType)),
        if (columns.isEmpty) 0 else partition.size)
    }

  private def of = named("partition", partition)
  private def row = named("column", columns)

  // A larger n needs rows that a smaller one has dropped or has not in its head, and so does
  // another order. With another first place, other rows were emitted.
  private def upTo =
    s"${if (places.from > 1) s"from_${places.from}_" else ""}to_${places.to}_by_${places.function.name.toLowerCase(Locale.ROOT)}$inOrder"

  private def inOrder: String = order.map { by =>
    val nulls = if (by.nullOrdering == NullsFirst) "nulls_first" else "nulls_last"
    val column = by.child match {
      case its: Attribute => columns.indexWhere(_.exprId == its.exprId)
      case _ => -1
    }
    s"_${if (column < 0) "" else s"${column}_"}${by.direction.sql.toLowerCase(Locale.ROOT)}_$nulls"
  }.mkString

  private def named(what: String, columns: Seq[Attribute]): Seq[(String, DataType)] =
    columns.zipWithIndex.map { case (c, i) => s"${what}_$i" -> c.dataType }

  private def schema(fields: Seq[(String, DataType)]): StructType =
    StructType(fields.map { case (n, t) => StateLayout.field(name, n, t) })
}

/** Builds keys and values of the store. One per task. */
final private[topn] class TopNRows(layout: TopNLayout) {

  private[this] val of = layout.partition.map(_.dataType)
  private[this] val row = layout.columns.map(_.dataType)
  private[this] val toPartition = ColumnProjection(refs(of, 0))
  private[this] val toOwn = ColumnProjection(refs(of ++ row, 0))
  private[this] val toColumns = ColumnProjection(refs(row, of.size))
  private[this] val joined = new JoinedRow
  private[this] val count = ColumnProjection(Array(LongType: DataType))

  def partitionOf(input: InternalRow): UnsafeRow = toPartition(input)

  /** An input row without its row kind: the key of its entry in the store. */
  def rowOf(input: InternalRow): UnsafeRow = toOwn(input)

  /** The columns of a row without its partition: the value of a first row. */
  def columnsOf(own: UnsafeRow): UnsafeRow = toColumns(own)

  /** The row from its partition and its other columns. */
  def joinedRow(of: UnsafeRow, columns: UnsafeRow): UnsafeRow = toOwn(joined(of, columns))

  def valueOf(copies: Long): UnsafeRow = count(InternalRow(copies))

  private def refs(types: Seq[DataType], from: Int): Seq[Expression] =
    types.zipWithIndex.map { case (t, i) => BoundReference(from + i, t, nullable = true) }
}

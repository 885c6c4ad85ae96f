package io.firesteel.changelog.topn

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.fold.{PackedValues, ValueTallies}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, Literal, UnsafeRow}
import org.apache.spark.sql.types.{BinaryType, DataType, IntegerType, LongType}

/** Builds keys and values of the store of [[FinalRetract]]. One per task. */
final private[topn] class RetractRows(layout: TopNLayout) {

  private[this] val of = refs(layout.partition.map(_.dataType), 0)
  private[this] val columns = refs(layout.columns.map(_.dataType), of.size)
  private[this] val (tail, head) = (Literal(0, IntegerType), Literal(1, IntegerType))
  private[this] val toHeadKey =
    ColumnProjection((of :+ head) ++ columns.map(c => Literal(null, c.dataType)))
  private[this] val toTail = ColumnProjection(of :+ tail)
  private[this] val toTailKey = ColumnProjection((of :+ tail) ++ columns)
  private[this] val toRow =
    ColumnProjection(of ++ refs(layout.columns.map(_.dataType), of.size + 1))
  private[this] val toValue = ColumnProjection(Array[DataType](LongType, BinaryType))
  private[this] val packed = new ValueTallies(isNumber = false)

  def headKeyOf(partition: UnsafeRow): UnsafeRow = toHeadKey(partition)

  /** The key prefix of a partition's tail. */
  def tailOf(partition: UnsafeRow): UnsafeRow = toTail(partition)

  def tailKeyOf(row: UnsafeRow): UnsafeRow = toTailKey(row)

  /** The row of a key of the tail. */
  def rowOf(key: UnsafeRow): UnsafeRow = toRow(key)

  /** The number of copies of a row of the tail. */
  def countOf(value: UnsafeRow): Long = value.getLong(0)

  def valueOf(count: Long): UnsafeRow = toValue(InternalRow(count, null))

  def valueOf(of: Head): UnsafeRow = {
    packed.clear()
    of.rows.foreach(row => packed.addRow(0, row.row, row.after))
    val bytes = PackedValues.pack(packed, of.rows.indices.toArray, 0, of.rows.length)
    toValue(InternalRow(if (of.isAll) 1L else 0L, bytes))
  }

  /** The head in a value; an empty head if there is none. */
  def read(stored: UnsafeRow): Head =
    if (stored == null) Head(Array.empty, isAll = true)
    else {
      packed.clear()
      PackedValues.unpack(stored.getBinary(1), of.size + columns.size, 0, packed)
      val rows = Array.tabulate(packed.size) { i =>
        new RankedRow(packed.row(i), packed.count(i), packed.count(i))
      }
      Head(rows, isAll = stored.getLong(0) == 1L)
    }

  private def refs(types: Seq[DataType], from: Int): Seq[Expression] =
    types.zipWithIndex.map { case (t, i) => BoundReference(from + i, t, nullable = true) }
}

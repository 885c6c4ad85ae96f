package io.firesteel.rank

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, BoundReference, RowOrdering, SortOrder, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute}
import org.apache.spark.sql.types.{IntegerType, LongType}

/** Binary rows `(k INT, v BIGINT, id BIGINT)` and an order by `v`, for algorithms without Spark. */
private[rank] object BinaryRows {

  val input: Seq[Attribute] = Seq(
    AttributeReference("k", IntegerType)(),
    AttributeReference("v", LongType)(),
    AttributeReference("id", LongType)())

  private val toBinary = UnsafeProjection.create(input.map(_.dataType).toArray)
  private val toKey = UnsafeProjection.create(Seq(BoundReference(0, IntegerType, nullable = true)))

  def row(k: Int, v: Long, id: Long): UnsafeRow = toBinary(InternalRow(k, v, id)).copy()

  def key(k: Int): UnsafeRow = toKey(InternalRow(k)).copy()

  /**
   * Rows by `v`. With `decisive` the prefix is `v` itself; without, a coarser one, so that the
   * generated ordering has to decide.
   */
  def order(decisive: Boolean): RowOrder = {
    val byValue = RowOrdering.create(Seq(SortOrder(input(1), Ascending)), input)
    new RowOrder(byValue, input.length, decisive, edge = Long.MinValue)
  }

  def prefix(v: Long, decisive: Boolean): Long = if (decisive) v else Math.floorDiv(v, 4L)

  /** `(v, id)` of the kept rows, in their order. */
  def read(kept: KeptRows): Seq[(Long, Long)] = (0 until kept.size).map { i =>
    val row = new UnsafeRow(input.length)
    row.pointTo(kept.rowAt(i), kept.rowAt(i).length)
    (row.getLong(1), row.getLong(2))
  }
}

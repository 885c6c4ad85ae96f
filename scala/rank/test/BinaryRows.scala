package io.firesteel.rank

import io.firesteel.core.rows.MemoryBudget
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, AttributeReference, BoundReference, RowOrdering, SortOrder, UnsafeProjection, UnsafeRow}
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
   * Orders rows by `v`. With `decisive` the prefix is `v` itself. Otherwise it is a coarser value,
   * and the generated ordering decides.
   */
  def order(decisive: Boolean): RowOrder = {
    val byValue = RowOrdering.create(Seq(SortOrder(input(1), Ascending)), input)
    new RowOrder(byValue, input.length, decisive, edge = Long.MinValue)
  }

  def prefix(v: Long, decisive: Boolean): Long = if (decisive) v else Math.floorDiv(v, 4L)

  /** `(v, id, tie)` of every kept row, in the order in which the heaps are read. */
  def read(heaps: Heaps): Seq[(Long, Long, Boolean)] = {
    val reader = heaps.read(sorted = true)
    Iterator
      .continually(reader)
      .takeWhile(_.advance())
      .map(r => (r.row.getLong(1), r.row.getLong(2), !r.isFirst && r.tie))
      .toSeq
  }
}

/** Grants memory up to a cap, and records the largest amount held. */
private[rank] final class CappedBudget(cap: Long = Long.MaxValue) extends MemoryBudget {
  var held: Long = 0L
  private var most = 0L

  override def hold(total: Long): Boolean = {
    val granted = total <= cap
    if (granted) {
      held = held.max(total)
      most = most.max(held)
    }
    granted
  }

  override def releaseTo(total: Long): Unit = held = held.min(total)

  override def peak: Long = most
}

package io.firesteel.rank

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, BindReferences, Expression, RowOrdering, SortOrder, SortPrefix, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.{SortPrefixUtils, UnsafeExternalRowSorter}
import org.apache.spark.sql.firesteel.pageSizeBytes

/**
 * Sorts rows by key and order with Spark's external sorter, which spills to disk. It takes the rows
 * if memory is refused or heaps drop too few of them.
 */
private[rank] final class SpilledRows(
    partitionBy: Seq[Expression],
    orderBy: Seq[SortOrder],
    input: Seq[Attribute]) {

  private[this] val spilledBefore = TaskContext.get().taskMetrics().memoryBytesSpilled
  private[this] val sorter = newSorter()

  def add(row: UnsafeRow): Unit = sorter.insertRow(row)

  /** Every row added, sorted by key and order. */
  def sorted(): Iterator[InternalRow] = sorter.sort()

  /** Bytes that the whole task, with its other operators, has spilled since this was made. */
  def spilledBytes: Long = TaskContext.get().taskMetrics().memoryBytesSpilled - spilledBefore

  def peakMemory: Long = sorter.getPeakMemoryUsage

  private def newSorter(): UnsafeExternalRowSorter = {
    val order = partitionBy.map(SortOrder(_, Ascending)) ++ orderBy
    val first = BindReferences.bindReference(order.head, input)
    val prefix = SortPrefix(first)
    val computer = new SpilledRows.ComputePrefix(UnsafeProjection.create(Seq(prefix)), prefix)
    UnsafeExternalRowSorter.create(
      DataTypeUtils.fromAttributes(input),
      RowOrdering.create(order, input),
      SortPrefixUtils.getPrefixComparator(first),
      computer,
      pageSizeBytes,
      false)
  }
}

private[rank] object SpilledRows {

  private final class ComputePrefix(project: UnsafeProjection, prefix: SortPrefix)
    extends UnsafeExternalRowSorter.PrefixComputer {

    private[this] val result = new UnsafeExternalRowSorter.PrefixComputer.Prefix

    override def computePrefix(row: InternalRow): UnsafeExternalRowSorter.PrefixComputer.Prefix = {
      val computed = project(row)
      result.isNull = computed.isNullAt(0)
      result.value = if (result.isNull) prefix.nullValue else computed.getLong(0)
      result
    }
  }
}

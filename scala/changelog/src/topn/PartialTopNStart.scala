package io.firesteel.changelog.topn

import io.firesteel.changelog.fold.{BoundColumns, FoldLimits}
import io.firesteel.changelog.plan.Places
import io.firesteel.core.rows.{ColumnProjection, OrderPrefix}
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * Starts a task's [[PartialTopN]], and adds its emitted rows to the metric when the task ends.
 *
 * @param input the columns of the rows
 * @param limit entries that may be held at once
 */
final private[topn] case class PartialTopNStart(
    partition: Seq[Attribute],
    order: Seq[SortOrder],
    places: Places,
    rowKey: Seq[Attribute],
    input: Seq[Attribute],
    limit: Int,
    outputRows: SQLMetric) {

  private def identity = RowIdentity.of(BoundColumns.of(rowKey, input))
  private def ranked(identity: RowIdentity) =
    new RankedRows(BoundColumns.order(order, input), places, identity)

  def apply(): PartialTopN = {
    val versions = identity
    val topN = new PartialTopN(
      FoldLimits.ofThisTask(limit),
      BoundColumns.of(partition, input),
      ranked(versions),
      places,
      versions)
    TaskContext.get().addTaskCompletionListener[Unit](_ => outputRows += topN.outputRows)
    topN
  }

  /** The first rows, without generated code. */
  def of(rows: Iterator[UnsafeRow]): Iterator[InternalRow] =
    if (places.isFirst) {
      val versions = identity
      val first = new FirstRows(BoundColumns.of(partition, input), ranked(versions), versions)
      new PartialFirst(rows, FoldLimits.ofThisTask(limit), first).map { row =>
        outputRows += 1
        row
      }
    } else {
      new PartialTopNRows(
        rows,
        apply(),
        ColumnProjection(partition, input),
        ColumnProjection(Seq(OrderPrefix.of(order).expression), input))
    }
}

final private class PartialTopNRows(
    rows: Iterator[UnsafeRow],
    topN: PartialTopN,
    partitionOf: UnsafeProjection,
    prefixOf: UnsafeProjection)
  extends Iterator[InternalRow] {

  override def hasNext: Boolean = {
    while (!topN.hasNext && rows.hasNext) {
      while (rows.hasNext && !topN.isFull) take(rows.next())
      topN.finish()
    }
    topN.hasNext
  }

  override def next(): InternalRow = if (hasNext) topN.next() else Iterator.empty.next()

  private def take(row: UnsafeRow): Unit =
    if (topN.wants(partitionOf(row), prefixOf(row).getLong(0))) topN.take(row)
}

package io.firesteel.skew

import io.firesteel.core.plans.CollectedRows
import io.firesteel.core.rows.{KeyIndex, KeyReader, MergeableAggregates, TaskMemoryBudget}
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.firesteel.countPeakMemory
import org.apache.spark.sql.types.StructType

/**
 * Creates a task's [[PartialDistinct]], and updates the metrics when the task ends.
 *
 * @param input the columns of the rows
 * @param names of the buckets
 * @param maxMemory most bytes for a task
 */
private[skew] final case class PartialDistinctStart(
    grouping: Seq[Attribute],
    ordinary: Seq[AggregateExpression],
    added: Seq[Attribute],
    numbers: Seq[Boolean],
    input: Seq[Attribute],
    names: Array[Int],
    maxMemory: Long,
    sampleValues: Int,
    maxNewShare: Double,
    inputRows: SQLMetric,
    outputRows: SQLMetric,
    passedOn: SQLMetric,
    peakMemory: SQLMetric) {

  def apply(): PartialDistinct = {
    val budget = TaskMemoryBudget.ofThisTask(maxMemory)
    val aggregates = new MergeableAggregates(ordinary, input)
    val fields = added.map(_.dataType match {
      case several: StructType => several.size
      case _ => 1
    })
    val partial = new PartialDistinct(
      new Groups(KeyIndex.isNumber(grouping), grouping.size, aggregates),
      numbers.toArray,
      fields.toArray,
      names,
      budget,
      sampleValues,
      maxNewShare)
    val task = TaskContext.get()
    task.addTaskCompletionListener[Unit] { _ =>
      inputRows += partial.inputRows
      outputRows += partial.outputRows
      passedOn += partial.passedOn
      peakMemory += budget.peak
      countPeakMemory(task, budget.peak)
    }
    partial
  }

  /** The blocks of some rows, without generated code. */
  def of(rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] =
    new PartialDistinctRows(
      rows,
      apply(),
      new KeyReader(grouping, input),
      added.map(KeyReader.placeOf(_, input)).toArray)
}

/** @param valueAt for each column the place of its field, which is null if the row adds no value */
private final class PartialDistinctRows(
    rows: Iterator[UnsafeRow],
    partial: PartialDistinct,
    keys: KeyReader,
    valueAt: Array[Int])
  extends CollectedRows(rows, partial) {

  private[this] val groups = partial.groups
  override protected def take(row: UnsafeRow): Unit = {
    val group = groups.of(row, keys)
    groups.update(group, row)
    var (named, full) = (false, false)
    var column = 0
    while (column < valueAt.length) {
      val at = valueAt(column)
      if (!row.isNullAt(at)) {
        named = true
        full |= partial.column(column).add(group, row, at)
      }
      column += 1
    }
    partial.ended(group, named, full)
  }
}

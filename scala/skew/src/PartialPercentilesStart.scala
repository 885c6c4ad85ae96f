package io.firesteel.skew

import io.firesteel.core.plans.CollectedRows
import io.firesteel.core.rows.{KeyIndex, KeyReader, MergeableAggregates, TaskMemoryBudget}
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.firesteel.countPeakMemory
import org.apache.spark.sql.types.{BinaryType, StructField, StructType}

/**
 * Creates a task's [[PartialPercentiles]], and updates the metrics when the task ends.
 *
 * @param input the columns of the rows
 * @param maxMemory most bytes for a task
 */
private[skew] final case class PartialPercentilesStart(
    grouping: Seq[Attribute],
    ordinary: Seq[AggregateExpression],
    values: Seq[Attribute],
    input: Seq[Attribute],
    maxMemory: Long,
    inputRows: SQLMetric,
    outputRows: SQLMetric,
    peakMemory: SQLMetric) {

  def apply(): PartialPercentiles = {
    val budget = TaskMemoryBudget.ofThisTask(maxMemory)
    val aggregates = new MergeableAggregates(ordinary, input)
    val keySchema = DataTypeUtils.fromAttributes(grouping)
    val stateSchema = DataTypeUtils.fromAttributes(aggregates.stateAttributes)
    val bytesSchema = StructType(values.map(_ => StructField("numbers", BinaryType)))
    val partial = new PartialPercentiles(
      new Groups(KeyIndex.isNumber(grouping), grouping.size, aggregates),
      grouping.isEmpty,
      values.size,
      GenerateUnsafeRowJoiner.create(keySchema, stateSchema),
      GenerateUnsafeRowJoiner.create(StructType(keySchema ++ stateSchema), bytesSchema),
      budget
    )
    val task = TaskContext.get()
    task.addTaskCompletionListener[Unit] { _ =>
      inputRows += partial.inputRows
      outputRows += partial.outputRows
      peakMemory += budget.peak
      countPeakMemory(task, budget.peak)
    }
    partial
  }

  /** The output for some rows, without generated code. */
  def of(rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] =
    new PartialPercentilesRows(
      rows,
      apply(),
      new KeyReader(grouping, input),
      values.map(value => NumberOfRow(KeyReader.placeOf(value, input), value.dataType)).toArray)
}

private final class PartialPercentilesRows(
    rows: Iterator[UnsafeRow],
    partial: PartialPercentiles,
    keys: KeyReader,
    values: Array[NumberOfRow])
  extends CollectedRows(rows, partial) {

  private[this] val groups = partial.groups
  override protected def take(row: UnsafeRow): Unit = {
    val group = groups.of(row, keys)
    groups.update(group, row)
    var full = false
    var i = 0
    while (i < values.length) {
      val value = values(i)
      if (!row.isNullAt(value.at)) full |= partial.column(i).add(group, value.of(row))
      i += 1
    }
    partial.ended(full)
  }
}

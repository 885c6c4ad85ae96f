package io.firesteel.panes

import io.firesteel.core.rows.{KeyIndex, KeyReader, MergeableAggregates, TaskMemoryBudget}
import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, NamedExpression, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner
import org.apache.spark.sql.catalyst.plans.physical.{AllTuples, ClusteredDistribution, Distribution, UnspecifiedDistribution}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.{PartitioningPreservingUnaryExecNode, SparkPlan}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.firesteel.countPeakMemory

/**
 * Aggregates by keys and pane in a [[PaneTable]]: rows below the exchange, and states above it. The
 * output is keys, pane and the states of the functions, as Spark's partial aggregate has it.
 * Exception: the same key and pane may occur more than once.
 *
 * Memory: the grants of Spark's memory manager, up to `spark.firesteel.panes.maxTaskMemory`. If
 * memory is refused, the operator emits everything that it holds.
 *
 * @param pane a column of the input, as keys are
 * @param functions aggregates whose states have a fixed size
 * @param merges whether the input is states (`MergePanes`) or rows (`PartialPanes`)
 */
case class PaneStatesExec(
    keys: Seq[Attribute],
    pane: Attribute,
    functions: Seq[AggregateExpression],
    merges: Boolean,
    child: SparkPlan)
  extends PartitioningPreservingUnaryExecNode {

  override def nodeName: String = if (merges) "MergePanes" else "PartialPanes"

  private def states: Seq[Attribute] =
    functions.flatMap(_.aggregateFunction.inputAggBufferAttributes)

  override def output: Seq[Attribute] = (keys :+ pane) ++ states

  override def producedAttributes: AttributeSet =
    AttributeSet(states) ++ AttributeSet(functions.flatMap(_.aggregateFunction.aggBufferAttributes))

  override protected def outputExpressions: Seq[NamedExpression] = keys :+ pane

  // A window needs several panes of its key.
  override def requiredChildDistribution: Seq[Distribution] = Seq(
    if (!merges) UnspecifiedDistribution
    else if (keys.isEmpty) AllTuples
    else ClusteredDistribution(keys))

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numInputRows" -> SQLMetrics.createMetric(sparkContext, "number of input rows"),
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of panes"),
    "refusals" -> SQLMetrics.createMetric(sparkContext, "times that memory was refused"),
    "peakMemory" -> SQLMetrics.createSizeMetric(sparkContext, "peak memory")
  )

  override protected def doExecute(): RDD[InternalRow] = {
    // Local values, so that the closure does not serialise the whole plan.
    val (keys, pane, input) = (this.keys, this.pane, child.output)
    val (functions, merges) = (this.functions, this.merges)
    val group = keys :+ pane
    val stateSchema = DataTypeUtils.fromAttributes(states)
    val cap = conf.getConf(PanesConf.MAX_TASK_MEMORY).getOrElse(Long.MaxValue)
    val (in, out) = (longMetric("numInputRows"), longMetric("numOutputRows"))
    val (refused, peak) = (longMetric("refusals"), longMetric("peakMemory"))
    child.execute().mapPartitions { rows =>
      val budget = TaskMemoryBudget.ofThisTask(cap)
      val aggregates =
        if (merges) PaneWindowsExec.aggregates(functions)
        else new MergeableAggregates(functions, input)
      val taken = if (merges) stateSchema.size else input.size
      val toTaken = UnsafeProjection.create(input.takeRight(taken), input)
      val panes = new PaneStatesIterator(
        KeyReader.unsafe(rows, input).map { row => in += 1; row },
        taken,
        row => if (merges) toTaken(row) else row,
        if (merges) aggregates.merge else aggregates.update,
        new KeyIndex(KeyIndex.isNumber(keys), keys.size),
        new KeyReader(keys, input),
        KeyReader.placeOf(pane, input),
        aggregates.newBuffer().asInstanceOf[UnsafeRow],
        UnsafeProjection.create(group, group),
        GenerateUnsafeRowJoiner.create(DataTypeUtils.fromAttributes(group), stateSchema),
        budget
      )
      TaskContext.get().addTaskCompletionListener[Unit] { task =>
        refused += panes.refusals
        peak += budget.peak
        countPeakMemory(task, budget.peak)
      }
      panes.map { row => out += 1; row }
    }
  }

  override def simpleString(maxFields: Int): String = {
    val calls = functions.map(_.aggregateFunction.toString)
    s"$nodeName ${keys.mkString("[", ", ", "]")}, $pane, ${calls.mkString("[", ", ", "]")}"
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PaneStatesExec =
    copy(child = newChild)
}

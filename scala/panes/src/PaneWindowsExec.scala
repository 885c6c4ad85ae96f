package io.firesteel.panes

import io.firesteel.core.decide.FiredOperator
import io.firesteel.core.plans.GrowsRows
import io.firesteel.core.rows.{MergeableAggregates, TaskMemoryBudget}
import io.firesteel.core.windows.PaneGrid
import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, AttributeSeq, AttributeSet, Expression, NamedExpression, Predicate, SortOrder, UnsafeProjection}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, ApproximatePercentile}
import org.apache.spark.sql.catalyst.plans.physical.{AllTuples, ClusteredDistribution, Distribution}
import org.apache.spark.sql.execution.{OrderPreservingUnaryExecNode, PartitioningPreservingUnaryExecNode, SparkPlan}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.firesteel.countPeakMemory

/**
 * Merges panes into windows.
 *
 * The input is rows of keys, pane and states, clustered by key and sorted by key and pane. The sort
 * is Spark's, and can spill. Memory: the panes of one window of one key, and merged states of them,
 * see [[SlidingMerge]].
 *
 * @param functions the aggregates, in mode `Final`; their states follow the pane in the input
 * @param window the window column
 * @param wanted a condition on the window column
 * @param resultExpressions the output, over keys, window and results of functions
 */
case class PaneWindowsExec(
    keys: Seq[Attribute],
    pane: Attribute,
    functions: Seq[AggregateExpression],
    window: Attribute,
    grid: PaneGrid,
    wanted: Option[Expression],
    resultExpressions: Seq[NamedExpression],
    child: SparkPlan)
  extends PartitioningPreservingUnaryExecNode
  with OrderPreservingUnaryExecNode
  with GrowsRows
  with FiredOperator {

  override def nodeName: String = "PaneWindows"

  override def output: Seq[Attribute] = resultExpressions.map(_.toAttribute)

  // Functions name their buffer attributes; their values are input columns, bound by position.
  override def producedAttributes: AttributeSet =
    AttributeSet(window +: functions.map(_.resultAttribute)) ++
      AttributeSet(functions.flatMap(_.aggregateFunction.aggBufferAttributes)) ++
      AttributeSet(resultExpressions.map(_.toAttribute).filterNot(child.outputSet.contains))

  // No child gives these. A canonical plan tells them by their places here; otherwise no shuffle above
  // is used again.
  override lazy val allAttributes: AttributeSeq = new AttributeSeq(
    (child.output ++ (window +: functions.map(_.resultAttribute)) ++
      functions.flatMap(_.collect { case column: Attribute => column })).distinctBy(_.exprId))

  /** The number of windows that contain a pane. */
  override def growth: Int = math.ceil(grid.overlap).toInt

  override def requiredChildDistribution: Seq[Distribution] =
    Seq(if (keys.isEmpty) AllTuples else ClusteredDistribution(keys))

  override def requiredChildOrdering: Seq[Seq[SortOrder]] =
    Seq((keys :+ pane).map(SortOrder(_, Ascending)))

  override protected def outputExpressions: Seq[NamedExpression] = resultExpressions

  // The output has no pane column.
  override protected def orderingExpressions: Seq[SortOrder] =
    keys.map(SortOrder(_, Ascending))

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numInputRows" -> SQLMetrics.createMetric(sparkContext, "number of panes"),
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "numTasksAnew" ->
      SQLMetrics.createMetric(sparkContext, "tasks that merge each window from its panes"),
    "peakMemory" -> SQLMetrics.createSizeMetric(sparkContext, "peak memory")
  )

  override protected def doExecute(): RDD[InternalRow] = {
    // Local values, so that the closure does not serialise the whole plan.
    val (in, grid, numKeys, functions) = (child.output, this.grid, keys.length, this.functions)
    val (window, wanted, results) = (this.window, this.wanted, resultExpressions)
    val rowColumns = keys ++ (window +: functions.map(_.resultAttribute))
    val (panes, windows) = (longMetric("numInputRows"), longMetric("numOutputRows"))
    val (anew, peak) = (longMetric("numTasksAnew"), longMetric("peakMemory"))
    val cap = conf.getConf(PanesConf.MAX_TASK_MEMORY).getOrElse(Long.MaxValue)
    child.execute().mapPartitionsWithIndex { (index, rows) =>
      val counted = rows.map { row => panes += 1; row }
      val budget = TaskMemoryBudget.ofThisTask(cap)
      val merge = new SlidingMerge(
        PaneWindowsExec.aggregates(functions),
        budget,
        PaneWindowsExec.copiesMerged(functions))
      val task = TaskContext.get()
      task.addTaskCompletionListener[Unit] { _ =>
        if (merge.mergesAnew) anew += 1
        peak += budget.peak
        countPeakMemory(task, budget.peak)
      }
      val condition = wanted.map(Predicate.create(_, Seq(window)))
      val output = UnsafeProjection.create(results, rowColumns)
      // Functions such as `rand()` depend on the partition's index.
      condition.foreach(_.initialize(index))
      output.initialize(index)
      new PaneWindowsIterator(
        new PaneRows(counted, in, numKeys),
        merge,
        grid,
        condition,
        output
      ).map { row => windows += 1; row }
    }
  }

  override def firedRule: String = PlanPanes.ruleName

  override def firedMessage: String =
    s"windows of $grid are merged from panes: each row is aggregated once, not once per window"

  override def firedValues: Map[String, String] = Map(
    "window" -> grid.toString,
    "windowsPerRow" -> (math.rint(grid.overlap * 100) / 100).toString,
    "panesPerWindow" -> grid.panesPerWindow.toString,
    "keys" -> keys.map(_.name).mkString(", ")
  )

  override def simpleString(maxFields: Int): String = {
    val calls = functions.map(_.aggregateFunction.toString)
    val only = wanted.fold("")(condition => s", only $condition")
    s"$nodeName ${keys.mkString("[", ", ", "]")}, $grid, ${calls.mkString("[", ", ", "]")}$only"
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PaneWindowsExec =
    copy(child = newChild)
}

private[panes] object PaneWindowsExec {

  /**
   * Whether a merge costs as much as both states, as that of two summaries of quantiles does. Most
   * others, lists and maps among them, only take what the other one has.
   */
  private def copiesMerged(functions: Seq[AggregateExpression]): Boolean =
    functions.exists(_.aggregateFunction.isInstanceOf[ApproximatePercentile])

  /**
   * Aggregates that merge and evaluate states. They never update, so the columns that functions
   * read are declared but not present in the input.
   */
  def aggregates(functions: Seq[AggregateExpression]): MergeableAggregates =
    new MergeableAggregates(
      functions,
      AttributeSet(functions.flatMap(_.aggregateFunction.references)).toSeq)
}

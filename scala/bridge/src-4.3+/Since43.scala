package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TimeWindowResolution
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression, NamedExpression, SortOrder, TimeWindow}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.DataSourceUtils
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.window.WindowEvaluatorFactory
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.streaming.StateOperatorProgress

/** What Spark 4.3 brought or changed. */
private[firesteel] trait Since43 {

  /** Whether the rows of a relation depend on the columns that are read. */
  def isProjectionSensitiveRead(relation: BaseRelation): Boolean =
    DataSourceUtils.isProjectionSensitiveRead(relation)

  /** The column of `window(...)`, and the rows of `child` with it, as the analyser makes both. */
  def windowed(window: TimeWindow, child: LogicalPlan): (AttributeReference, LogicalPlan) =
    TimeWindowResolution.buildTimeWindowRewrite(window, child)

  /**
   * Evaluates window functions in one task. The rows come in the order of the window, one partition
   * after another, and each is returned with its results. It reads one row ahead.
   *
   * @param functions calls over `columns`, as aliases
   */
  def windowEvaluator(
      functions: Seq[NamedExpression],
      partition: Seq[Expression],
      order: Seq[SortOrder],
      columns: Seq[Attribute]): Iterator[InternalRow] => Iterator[InternalRow] = {
    def metric = new SQLMetric("size")
    val evaluator =
      new WindowEvaluatorFactory(functions, partition, order, columns, metric, metric, metric)
        .createEvaluator()
    // With a tree, the last digits of a sum of floats would depend on where the rows begin.
    val tree = "spark.sql.window.segmentTree.enabled"
    if (SQLConf.get.getConfString(tree, "false").toBoolean) {
      val settings = new SQLConf
      SQLConf.get.getAllConfs.foreach { case (key, value) => settings.setConfString(key, value) }
      settings.setConfString(tree, "false")
      rows => SQLConf.withExistingConf(settings)(evaluator.eval(0, rows))
    } else evaluator.eval(0, _)
  }

  /** The progress of a stateful operator under another name, `private[spark]`. */
  def renamedProgress(of: StateOperatorProgress, name: String): StateOperatorProgress =
    new StateOperatorProgress(
      name,
      of.numRowsTotal,
      of.numRowsUpdated,
      of.allUpdatesTimeMs,
      of.numRowsRemoved,
      of.allRemovalsTimeMs,
      of.commitTimeMs,
      of.memoryUsedBytes,
      of.numRowsDroppedByWatermark,
      of.numShufflePartitions,
      of.numStateStoreInstances,
      of.customMetrics,
      of.snapshotCustomMetricNames
    )
}

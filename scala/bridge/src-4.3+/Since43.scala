package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.analysis.TimeWindowResolution
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, TimeWindow}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.DataSourceUtils
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.streaming.StateOperatorProgress

/** What Spark 4.3 brought or changed. */
private[firesteel] trait Since43 {

  /** Whether adaptive execution coalesces the partitions of all inputs of a union alike. */
  val unionsCoalesceTogether: Boolean = true

  /** Whether the rows of a relation depend on the columns that are read. */
  def isProjectionSensitiveRead(relation: BaseRelation): Boolean =
    DataSourceUtils.isProjectionSensitiveRead(relation)

  /** The column of `window(...)`, and the rows of `child` with it, as the analyser makes both. */
  def windowed(window: TimeWindow, child: LogicalPlan): (AttributeReference, LogicalPlan) =
    TimeWindowResolution.buildTimeWindowRewrite(window, child)

  /** The progress of a stateful operator, with that of others in its store, `private[spark]`. */
  def renamedProgress(
      of: StateOperatorProgress,
      name: String,
      updated: Long,
      removed: Long,
      dropped: Long,
      custom: java.util.Map[String, java.lang.Long]): StateOperatorProgress =
    new StateOperatorProgress(
      name,
      of.numRowsTotal,
      of.numRowsUpdated + updated,
      of.allUpdatesTimeMs,
      of.numRowsRemoved + removed,
      of.allRemovalsTimeMs,
      of.commitTimeMs,
      of.memoryUsedBytes,
      of.numRowsDroppedByWatermark + dropped,
      of.numShufflePartitions,
      of.numStateStoreInstances,
      custom,
      of.snapshotCustomMetricNames
    )
}

package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.analysis.TimeWindowing
import org.apache.spark.sql.catalyst.expressions.{Alias, AttributeReference, TimeWindow}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.streaming.StateOperatorProgress

/** What Spark 4.3 brought or changed, in terms of the versions before. */
private[firesteel] trait Since43 {

  /** Whether the rows of a relation depend on the columns that are read: no relation says so. */
  def isProjectionSensitiveRead(relation: BaseRelation): Boolean = {
    val _ = relation
    false
  }

  /**
   * The column of `window(...)`, and the rows of `child` with it, as the analyser makes both. Its
   * rule replaces the window in a projection by the column.
   */
  def windowed(window: TimeWindow, child: LogicalPlan): (AttributeReference, LogicalPlan) =
    TimeWindowing(Project(Seq(Alias(window, "window")()), child)) match {
      case project: Project =>
        val columns = project.projectList.head.collect { case column: AttributeReference => column }
        (columns.head, project.child)
      case other => throw new IllegalStateException(s"no projection: $other")
    }

  /** Whether the exchange's readers may begin before it has ended. */
  def isPipelined(shuffle: ShuffleExchangeExec): Boolean = {
    val _ = shuffle
    false
  }

  /**
   * The arithmetic of `percentile` for a position between two numbers.
   *
   * @param position between `below` and `below + 1`, the positions of `low` and `high`
   */
  def interpolated(position: Double, below: Long, low: Double, high: Double): Double =
    (below + 1 - position) * low + (position - below) * high

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
      of.customMetrics
    )
}

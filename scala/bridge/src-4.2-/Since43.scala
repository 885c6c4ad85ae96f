package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.FileSourceOptions
import org.apache.spark.sql.catalyst.analysis.TimeWindowing
import org.apache.spark.sql.catalyst.expressions.{Alias, AttributeReference, TimeWindow}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.execution.datasources.HadoopFsRelation
import org.apache.spark.sql.execution.datasources.csv.CSVFileFormat
import org.apache.spark.sql.execution.datasources.json.JsonFileFormat
import org.apache.spark.sql.execution.datasources.xml.XmlFileFormat
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.streaming.StateOperatorProgress

/** What Spark 4.3 brought or changed, in terms of the versions before. */
private[firesteel] trait Since43 {

  /** Whether adaptive execution coalesces the partitions of all inputs of a union alike. */
  val unionsCoalesceTogether: Boolean = false

  /** Whether the rows of a relation depend on the columns that are read, as Spark 4.3 says it. */
  def isProjectionSensitiveRead(relation: BaseRelation): Boolean = relation match {
    case files: HadoopFsRelation =>
      val options = new FileSourceOptions(files.options)
      options.ignoreCorruptFiles || options.ignoreMissingFiles || (files.fileFormat match {
        case _: CSVFileFormat | _: JsonFileFormat | _: XmlFileFormat => true
        case _ => false
      })
    case _ => false
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
      custom
    )
}

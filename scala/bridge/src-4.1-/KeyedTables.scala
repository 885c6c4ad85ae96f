package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.expressions.TransformExpression
import org.apache.spark.sql.catalyst.plans.physical.{KeyGroupedPartitioning, Partitioning, PartitioningCollection}
import org.apache.spark.sql.execution.SparkPlan

/**
 * Tables whose source reports how they lie, before 4.2.
 *
 * Rooms leave them to Spark: with `spark.sql.sources.v2.bucketing.pushPartValues.enabled`, the
 * default, a table above an exchange of one side ends in "Can't zip RDDs with unequal numbers of
 * partitions" (https://github.com/apache/spark/pull/58572).
 */
object KeyedTables {

  /** Whether rooms may use what sources report. */
  val areUsable: Boolean = false

  def in(partitioning: Partitioning): Seq[KeyedTable] = {
    val _ = partitioning
    Nil
  }

  /** Whether a source reports how a plan's rows lie. */
  def isReported(partitioning: Partitioning): Boolean = partitioning match {
    case several: PartitioningCollection => several.partitionings.exists(isReported)
    case other => other.isInstanceOf[KeyGroupedPartitioning]
  }

  /** Puts the parts of one value into one partition: here the scan itself does so. */
  def grouped(plan: SparkPlan): Option[SparkPlan] = {
    val _ = plan
    None
  }

  def isGrouping(plan: SparkPlan): Boolean = {
    val _ = plan
    false
  }

  /** Whether the function can be computed. */
  def isComputed(function: TransformExpression): Boolean = {
    val _ = function
    false
  }
}

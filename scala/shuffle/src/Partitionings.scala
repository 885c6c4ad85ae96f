package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, PartitioningCollection}
import org.apache.spark.sql.execution.SparkPlan

/** Every description of how a plan's rows lie: columns may have two names, or equal each other. */
private[shuffle] object Partitionings {

  def of(plan: SparkPlan): Seq[Partitioning] = flatten(plan.outputPartitioning)

  def flatten(partitioning: Partitioning): Seq[Partitioning] = partitioning match {
    case several: PartitioningCollection => several.partitionings.flatMap(flatten)
    case one => Seq(one)
  }
}

package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.execution.{FileSourceScanExec, FilterExec, ProjectExec, SparkPlan}
import org.apache.spark.sql.execution.datasources.BucketingUtils

/**
 * An input whose rows may stay where they are.
 *
 * @param keys by which they are spread over `partitions`
 * @param largestShare share of the bytes that the largest partition has, where files tell
 */
private[shuffle] final case class Input(
    plan: SparkPlan,
    keys: Seq[Expression],
    partitions: Int,
    largestShare: Option[Double])

private[shuffle] object Input {

  /** As the plan is, or as it would be if its table were read in buckets. */
  def of(plan: SparkPlan): Option[Input] =
    spread(plan, None).orElse {
      inBuckets(plan).flatMap { case (bucketed, scan) => spread(bucketed, largestShare(scan)) }
    }

  private def spread(plan: SparkPlan, largestShare: Option[Double]): Option[Input] =
    plan.outputPartitioning match {
      case HashPartitioning(keys, partitions) => Some(Input(plan, keys, partitions, largestShare))
      case _ => None
    }

  /**
   * Below a shuffle Spark reads a bucketed table like any other
   * (`spark.sql.sources.bucketing.autoBucketedScan.enabled`). Without the shuffle it need not.
   */
  private def inBuckets(plan: SparkPlan): Option[(SparkPlan, FileSourceScanExec)] = plan match {
    case _: ProjectExec | _: FilterExec =>
      inBuckets(plan.children.head).map { case (child, scan) =>
        (plan.withNewChildren(Seq(child)), scan)
      }
    case scan: FileSourceScanExec if scan.disableBucketedScan =>
      val bucketed = scan.copy(disableBucketedScan = false)
      bucketed.copyTagsFrom(scan)
      if (bucketed.bucketedScan && bucketsOf(bucketed).forall(_._1.isDefined))
        Some((bucketed, bucketed))
      else None
    case _ => None
  }

  private def largestShare(scan: FileSourceScanExec): Option[Double] = {
    val sizes = bucketsOf(scan).groupMapReduce(_._1)(_._2)(_ + _)
    val all = sizes.values.sum
    if (all == 0) None else Some(sizes.values.max.toDouble / all)
  }

  /** Of each file the bucket and the size. Spark reads a table no more in buckets if one has none. */
  private def bucketsOf(scan: FileSourceScanExec): Seq[(Option[Int], Long)] =
    scan.selectedPartitions.filePartitionIterator
      .flatMap(_.files)
      .map(file => (BucketingUtils.getBucketId(file.getPath.getName), file.getLen))
      .toSeq
}

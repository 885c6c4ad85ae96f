package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.catalyst.util.InternalRowComparableWrapper
import org.apache.spark.sql.connector.read.{HasPartitionKey, HasPartitionStatistics}
import org.apache.spark.sql.execution.{FileSourceScanExec, FilterExec, ProjectExec, SparkPlan}
import org.apache.spark.sql.execution.datasources.BucketingUtils
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec

/**
 * An input of a join whose rows may stay where they are.
 *
 * @param keys the keys that its rows are spread by
 * @param largestShare share of the bytes in the largest partition, if the source reports it
 */
private[shuffle] final case class Input(
    plan: SparkPlan,
    keys: Seq[Expression],
    layout: Layout,
    largestShare: Option[Double])

private[shuffle] object Input {

  /**
   * The plan as it is, or with its table read in buckets, if it is spread by some of these keys.
   */
  def of(plan: SparkPlan, keys: Seq[Expression]): Option[Input] = {
    def fits(input: Input) = input.keys.forall(key => keys.exists(_.semanticEquals(key)))
    spread(plan).find(fits).orElse(stored(plan).filter(fits)).orElse {
      for {
        (bucketed, scan) <- inBuckets(plan)
        input <- spread(bucketed).find(fits)
        files = bucketsOf(scan) // lists the table's files
        if files.forall(_._1.isDefined)
      } yield input.copy(largestShare = largest(files))
    }
  }

  /** All descriptions of its partitioning: columns may have two names, or be equal since a join. */
  private def spread(plan: SparkPlan): Seq[Input] =
    Partitionings.of(plan).collect {
      case HashPartitioning(keys, partitions) => Input(plan, keys, Hashed(partitions), None)
    }

  /** The partitioning that its source reports. */
  def stored(plan: SparkPlan): Option[Input] =
    Stored.of(plan).map { case (grouped, layout) =>
      Input(grouped, layout.keys, layout, largestShare(plan, layout))
    }

  private def largestShare(plan: SparkPlan, layout: Stored): Option[Double] = {
    val values = layout.values.toSet
    val shares = plan.collect {
      case scan: BatchScanExec if Stored.valuesOf(scan.outputPartitioning).toSet == values =>
        largestShare(scan)
    }
    if (shares.forall(_.isDefined)) shares.flatten.maxOption else None
  }

  private def largestShare(scan: BatchScanExec): Option[Double] = {
    val types = Stored.typesOf(scan.outputPartitioning)
    // Spark sorts the values; the parts are in the source's order.
    val sizes = scan.inputPartitions.map {
      case part: HasPartitionKey with HasPartitionStatistics if part.sizeInBytes.isPresent =>
        Some(InternalRowComparableWrapper(part, types) -> part.sizeInBytes.getAsLong)
      case _ => None
    }
    if (sizes.forall(_.isDefined)) largest(sizes.flatten) else None
  }

  /**
   * Below a shuffle Spark ignores the buckets of a table
   * (`spark.sql.sources.bucketing.autoBucketedScan.enabled`). Without the shuffle it can use them.
   */
  private def inBuckets(plan: SparkPlan): Option[(SparkPlan, FileSourceScanExec)] = plan match {
    case _: ProjectExec | _: FilterExec =>
      inBuckets(plan.children.head).map { case (child, scan) =>
        (plan.withNewChildren(Seq(child)), scan)
      }
    case scan: FileSourceScanExec if scan.disableBucketedScan =>
      val bucketed = scan.copy(disableBucketedScan = false)
      bucketed.copyTagsFrom(scan)
      if (bucketed.bucketedScan) Some((bucketed, bucketed)) else None
    case _ => None
  }

  private def largest(parts: Seq[(Any, Long)]): Option[Double] = {
    val sizes = parts.groupMapReduce(_._1)(_._2)(_ + _)
    val all = sizes.values.sum
    if (all == 0) None else Some(sizes.values.max.toDouble / all)
  }

  /**
   * The bucket and the size of each file. Spark stops reading a table in buckets if one file has no
   * bucket.
   */
  private def bucketsOf(scan: FileSourceScanExec): Seq[(Option[Int], Long)] =
    scan.selectedPartitions.filePartitionIterator
      .flatMap(_.files)
      .map(file => (BucketingUtils.getBucketId(file.getPath.getName), file.getLen))
      .toSeq
}

package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.physical.{HashPartitioning, Partitioning, PartitioningCollection}
import org.apache.spark.sql.execution.SparkPlan

/** Which partition a row goes to, by its keys: what two inputs of a join must have in common. */
private[shuffle] trait Layout {

  def partitions: Int

  /** What a shuffle has to do to that end; `None` if none can. */
  def by(keys: Seq[Expression]): Option[Partitioning]

  /** The plan, where its rows lie so already by exactly these keys. */
  def of(plan: SparkPlan, keys: Seq[Expression]): Option[SparkPlan]

  /** Whether all rows of a partition have one value of the keys. */
  def isByValue: Boolean

  /** The functions, if any, by whose values rows lie, of which statistics of the keys say nothing. */
  def uncounted: Option[String]
}

/** By the hash of the keys. */
final private[shuffle] case class Hashed(partitions: Int) extends Layout {

  override def by(keys: Seq[Expression]): Option[Partitioning] =
    Some(HashPartitioning(keys, partitions))

  override def of(plan: SparkPlan, keys: Seq[Expression]): Option[SparkPlan] =
    PartitioningCollection.flatten(plan.outputPartitioning).collectFirst {
      case HashPartitioning(by, `partitions`) if Hashed.sameKeys(by, keys) => plan
    }

  override def isByValue: Boolean = false
  override def uncounted: Option[String] = None
}

private[shuffle] object Hashed {

  def sameKeys(one: Seq[Expression], other: Seq[Expression]): Boolean =
    one.size == other.size && one.zip(other).forall { case (a, b) => a.semanticEquals(b) }
}

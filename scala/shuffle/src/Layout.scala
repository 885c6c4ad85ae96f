package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.physical.{HashPartitioning, Partitioning}
import org.apache.spark.sql.execution.SparkPlan

/** Maps a row to a partition by its keys. The two inputs of a join must have the same layout. */
private[shuffle] trait Layout {

  def partitions: Int

  /** The partitioning of a shuffle to this layout; `None` if no shuffle can do it. */
  def by(keys: Seq[Expression]): Option[Partitioning]

  /** The plan, if its rows already have this layout by exactly these keys. */
  def of(plan: SparkPlan, keys: Seq[Expression]): Option[SparkPlan]

  /** Whether all rows of a partition have the same value of the keys. */
  def isByValue: Boolean

  /**
   * The functions, if any, whose values decide the partition. Statistics of the keys say nothing
   * about them.
   */
  def uncounted: Option[String]
}

/** The layout by hash of the keys. */
final private[shuffle] case class Hashed(partitions: Int) extends Layout {

  override def by(keys: Seq[Expression]): Option[Partitioning] =
    Some(HashPartitioning(keys, partitions))

  override def of(plan: SparkPlan, keys: Seq[Expression]): Option[SparkPlan] =
    Partitionings.of(plan).collectFirst {
      case HashPartitioning(by, `partitions`) if Hashed.sameKeys(by, keys) => plan
    }

  override def isByValue: Boolean = false
  override def uncounted: Option[String] = None
}

private[shuffle] object Hashed {

  def sameKeys(one: Seq[Expression], other: Seq[Expression]): Boolean =
    one.size == other.size && one.zip(other).forall { case (a, b) => a.semanticEquals(b) }
}

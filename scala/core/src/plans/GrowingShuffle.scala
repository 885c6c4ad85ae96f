package io.firesteel.core.plans

import org.apache.spark.sql.catalyst.plans.logical.Statistics
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.{ShuffleExchangeExec, ShuffleOrigin}
import org.apache.spark.sql.firesteel.{isPipelined, VersionedShuffle}

/**
 * An exchange inside an operator that emits more rows than the exchange carries.
 *
 * Adaptive execution takes the row count and size of a finished exchange for those of the whole
 * logical node (Spark: `LogicalQueryStage`). That is safe if a final aggregate only merges. For an
 * exchange of panes, blocks or lookup keys Spark would remove a `LIMIT`, `DISTINCT` or `ORDER BY`
 * above it, and broadcast a result that is far too large. So this exchange reports a row count only
 * if it is 0, and the size that the operator's result may have.
 *
 * @param growth bytes of the result per byte in the exchange, by estimate
 */
private[firesteel] final class GrowingShuffle(
    partitioning: Partitioning,
    input: SparkPlan,
    origin: ShuffleOrigin,
    advisory: Option[Long],
    isPipelined: Boolean,
    private val growth: Int)
  extends VersionedShuffle(partitioning, input, origin, advisory, isPipelined) {

  override def runtimeStatistics: Statistics = {
    val carried = super.runtimeStatistics
    carried.copy(
      sizeInBytes = carried.sizeInBytes * growth,
      rowCount = carried.rowCount.filter(_ == 0))
  }

  // Spark ignores a rule's new node if it equals the old one.
  override def canEqual(other: Any): Boolean = other.isInstanceOf[GrowingShuffle]

  override def equals(other: Any): Boolean = other match {
    case that: GrowingShuffle => growth == that.growth && super.equals(that)
    case _ => false
  }

  override def hashCode(): Int = 31 * super.hashCode() + growth

  override protected def otherCopyArgs: Seq[AnyRef] = super.otherCopyArgs :+ Int.box(growth)

  override protected def withNewChildInternal(newChild: SparkPlan): ShuffleExchangeExec =
    new GrowingShuffle(partitioning, newChild, origin, advisory, isPipelined, growth)
}

private[firesteel] object GrowingShuffle {

  def of(shuffle: ShuffleExchangeExec, growth: Int): ShuffleExchangeExec = {
    val growing = new GrowingShuffle(
      shuffle.outputPartitioning,
      shuffle.child,
      shuffle.shuffleOrigin,
      shuffle.advisoryPartitionSize,
      isPipelined(shuffle),
      growth)
    growing.copyTagsFrom(shuffle)
    growing
  }
}

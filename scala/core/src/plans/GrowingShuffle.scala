package io.firesteel.core.plans

import org.apache.spark.sql.catalyst.plans.logical.Statistics
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.{ShuffleExchangeExec, ShuffleOrigin}

/**
 * An exchange in the midst of an operator that makes more rows of those it carries.
 *
 * Adaptive execution takes the rows and bytes of a finished exchange for those of the whole logical
 * node (Spark: `LogicalQueryStage`), as is safe where a final aggregate only merges. Of an exchange of
 * panes, blocks or rows to be looked up it would conclude that a `LIMIT`, `DISTINCT` or `ORDER BY`
 * above has nothing to do, and broadcast what is far too large. So it is told a number of rows only if
 * that is none, and the bytes that may come of those carried.
 *
 * @param growth bytes that may come of one
 */
private[firesteel] final class GrowingShuffle(
    partitioning: Partitioning,
    input: SparkPlan,
    origin: ShuffleOrigin,
    advisory: Option[Long],
    isPipelined: Boolean,
    private val growth: Int)
  extends ShuffleExchangeExec(partitioning, input, origin, advisory, isPipelined) {

  override def runtimeStatistics: Statistics = {
    val carried = super.runtimeStatistics
    carried.copy(
      sizeInBytes = carried.sizeInBytes * growth,
      rowCount = carried.rowCount.filter(_ == 0))
  }

  // Rules take a node that equals the one before for no change.
  override def canEqual(other: Any): Boolean = other.isInstanceOf[GrowingShuffle]

  override def equals(other: Any): Boolean = other match {
    case that: GrowingShuffle => growth == that.growth && super.equals(that)
    case _ => false
  }

  override def hashCode(): Int = 31 * super.hashCode() + growth

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(Int.box(growth))

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
      shuffle.pipelined,
      growth)
    growing.copyTagsFrom(shuffle)
    growing
  }
}

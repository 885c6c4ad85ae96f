package io.firesteel.shuffle

import io.firesteel.core.decide.Decisions
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.ShuffleQueryStageExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.internal.SQLConf

/**
 * Warns once, with figures, if a shuffle by fewer keys has turned out uneven. It is too late for
 * this run, but not for the next.
 */
private[shuffle] object OutputWatch extends Logging {

  private val coarsened = TreeNodeTag[String]("firesteel.shuffle.coarsened")
  private val seen = TreeNodeTag[Unit]("firesteel.shuffle.seen")

  /** The default of `spark.sql.adaptive.skewJoin.skewedPartitionFactor`. */
  private val factor = 5.0

  /** Marks a shuffle that spreads its rows by these keys instead of more. */
  def mark(shuffle: ShuffleExchangeExec, keys: String): Unit =
    shuffle.setTagValue(coarsened, keys)

  /** Judges the shuffles of a plan that have run. */
  def look(plan: SparkPlan): Unit = plan.foreach {
    case stage: ShuffleQueryStageExec if stage.isMaterialized =>
      for {
        shuffle <- Some(stage.shuffle).collect { case shuffle: ShuffleExchangeExec => shuffle }
        keys <- shuffle.getTagValue(coarsened)
        sizes <- stage.mapStats.map(_.bytesByPartitionId) if sizes.nonEmpty
        if shuffle.getTagValue(seen).isEmpty
      } {
        shuffle.setTagValue(seen, ())
        judge(shuffle, keys, sizes)
      }
    case _ => ()
  }

  private def judge(shuffle: ShuffleExchangeExec, keys: String, sizes: Array[Long]): Unit = {
    val (largest, mean) = (sizes.max, sizes.sum / sizes.length)
    val threshold = SQLConf.get.getConf(ShuffleConf.UNEVEN_SIZE)
    if (largest >= threshold && largest > factor * mean) {
      val why = ShuffleDecline.Uneven(keys, largest, mean)
      logWarning(s"${why.message}: it has $largest bytes, the mean of ${sizes.length} partitions " +
        s"is $mean. Lower ${ShuffleConf.MAX_KEY_SHARE.key}, or set ${ShuffleConf.ENABLED.key} to " +
        "false.")
      shuffle.child
        .collectFirst(Function.unlift(_.getTagValue(SparkPlan.LOGICAL_PLAN_TAG)))
        .foreach(Decisions.decline(_, RemoveRedundantShuffle.name, why))
    }
  }
}

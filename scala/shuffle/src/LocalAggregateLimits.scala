package io.firesteel.shuffle

import org.apache.spark.sql.internal.SQLConf

/**
 * When a local aggregate should emit its rows unaggregated.
 *
 * @param minDistinct least share of different keys among a task's rows, from 0 to 1
 * @param maxShare largest share of the rows in one key: they all go to one task
 */
final private[shuffle] case class LocalAggregateLimits(minDistinct: Double, maxShare: Double) {

  def allowAnything: Boolean = minDistinct == 0.0

  def allow(distinct: Double, largestShare: Double): Boolean =
    allowAnything || (distinct >= minDistinct && largestShare <= maxShare)
}

private[shuffle] object LocalAggregateLimits {

  /** A hundredth of the rows in one key is too much for one task, however few tasks there are. */
  private val largeShare = 0.01

  def of(partitions: Int): LocalAggregateLimits = LocalAggregateLimits(
    SQLConf.get.getConf(ShuffleConf.DISTINCT_VALUE_RATE),
    math.min(largeShare, SQLConf.get.getConf(ShuffleConf.MAX_KEY_SHARE) / partitions)
  )
}

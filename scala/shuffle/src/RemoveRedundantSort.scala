package io.firesteel.shuffle

import io.firesteel.core.decide.Decline
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{SortExec, SparkPlan}
import org.apache.spark.sql.internal.SQLConf

/**
 * Removes the sort of a task's rows that already have that order, where Spark does not see it.
 *
 * {{{
 *   SortMergeJoin [k, r + 1]                      SortMergeJoin [k, r + 1]
 *   +- Sort [k, r + 1]                            +- InOrder [k, r + 1]
 *      +- Window [rank() OVER (k, v) AS r]   =>      +- Window [rank() OVER (k, v) AS r]
 *         +- Sort [k, v]                                +- Sort [k, v]
 * }}}
 *
 * Often a shuffle was between the two sorts, which [[RemoveRedundantShuffle]] has removed.
 * [[KnownOrder]] derives the order.
 */
private[shuffle] object RemoveRedundantSort extends Rule[SparkPlan] {

  /** The rule's name in `firesteel.explain`. */
  val name: String = "RemoveRedundantSort"

  override def apply(plan: SparkPlan): SparkPlan =
    if (isOff) plan
    else plan.transformUp {
      case sort: SortExec if !sort.global && KnownOrder.isOf(sort.child, sort.sortOrder) =>
        val known = InOrderExec(sort.sortOrder, sort.child)
        known.copyTagsFrom(sort)
        known
    }

  private def isOff: Boolean =
    !conf.getConf(SQLConf.REMOVE_REDUNDANT_SORTS_ENABLED) ||
      Decline.switchedOff("shuffle", ShuffleConf.ENABLED).isDefined
}

package io.firesteel.shuffle

import io.firesteel.core.decide.{Decisions, Decline}
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.execution.{SparkPlan, UnionExec}
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.joins.ShuffledJoin
import org.apache.spark.sql.firesteel.{unionsCoalesceTogether, unionsHaveLayouts, KeyedTables}

/** Reasons of the running version of Spark, which lacks what a later one has. */
private[shuffle] object OlderSpark {

  /** Records joins that could use how a table lies. */
  def declineStoredTables(plan: SparkPlan): Unit =
    if (!KeyedTables.areUsable) {
      plan.foreach {
        case join: ShuffledJoin if shuffledInputs(join).exists(isStored) =>
          decline(join, ShuffleDecline.StoredTable(SPARK_VERSION))
        case _ => ()
      }
    }

  /** Whether a union of branches that lie alike says so. If not, that is recorded. */
  def saysHowItLies(union: UnionExec): Boolean = {
    if (!unionsHaveLayouts) decline(union, ShuffleDecline.UnionLayout(SPARK_VERSION))
    unionsHaveLayouts
  }

  /**
   * Whether the partitions of a union's branches stay as many as they are. Before 4.3 adaptive
   * execution coalesces those of each branch by itself, and then takes it back.
   */
  def keepsPartitions(plan: SparkPlan): Boolean = plan match {
    case _: UnionExec =>
      !unionsCoalesceTogether && plan.conf.adaptiveExecutionEnabled &&
      plan.conf.coalesceShufflePartitionsEnabled
    case _: Exchange => false
    case other => other.children.exists(keepsPartitions)
  }

  private def decline(plan: SparkPlan, why: Decline): Unit =
    if (Decline.switchedOff("shuffle", ShuffleConf.ENABLED).isEmpty) {
      plan.logicalLink.foreach(Decisions.decline(_, RemoveRedundantShuffle.name, why))
    }

  private def isStored(plan: SparkPlan): Boolean = KeyedTables.isReported(plan.outputPartitioning)

  private def shuffledInputs(join: SparkPlan): Seq[SparkPlan] =
    join.children.flatMap(_.collectFirst {
      case shuffle if Candidate.isOfSpark(shuffle) => shuffle.children.head
    })
}

package io.firesteel.core.plans

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec

/** An operator that may give more rows than an exchange below it carries, for the same logical node. */
private[firesteel] trait GrowsRows extends SparkPlan {

  /** How many bytes it may give for one that is carried, by estimate. */
  def growth: Int
}

/**
 * Makes a [[GrowingShuffle]] of each exchange below an operator that [[GrowsRows]]. Runs last among the
 * rules that prepare stages: others put exchanges in and take them out.
 */
private[firesteel] object MarkGrowingShuffles extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case growing: GrowsRows =>
      growing.logicalLink.fold[SparkPlan](growing) { link =>
        growing.mapChildren(marked(_, link, growing.growth))
      }
  }

  private def marked(plan: SparkPlan, link: LogicalPlan, growth: Int): SparkPlan = plan match {
    case known: GrowingShuffle => known
    case shuffle: ShuffleExchangeExec =>
      if (isOf(shuffle, link)) GrowingShuffle.of(shuffle, growth) else shuffle
    case unary: UnaryExecNode if isOf(unary, link) => unary.mapChildren(marked(_, link, growth))
    case other => other
  }

  /** Whether adaptive execution takes a node for part of this logical one, as it does by the first link. */
  private def isOf(plan: SparkPlan, link: LogicalPlan): Boolean =
    plan.collectFirst { case node if node.logicalLink.isDefined => node.logicalLink.get }
      .exists(_ eq link)
}

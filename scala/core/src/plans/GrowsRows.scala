package io.firesteel.core.plans

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike

/**
 * An operator that may emit more rows than an exchange below it carries, for the same logical node.
 */
private[firesteel] trait GrowsRows extends SparkPlan {

  /** Bytes of its result per byte that the exchange carries, by estimate. */
  def growth: Int
}

/**
 * Replaces each exchange below an operator that [[GrowsRows]] by a [[GrowingShuffle]]. It is the
 * last rule that prepares stages: other rules add and remove exchanges.
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
    case shuffle: ShuffleExchangeLike =>
      if (isOf(shuffle, link)) GrowingShuffle.of(shuffle, growth) else shuffle
    case unary: UnaryExecNode if isOf(unary, link) => unary.mapChildren(marked(_, link, growth))
    case other => other
  }

  /**
   * Whether adaptive execution counts a node as part of this logical one: the first link decides.
   */
  private def isOf(plan: SparkPlan, link: LogicalPlan): Boolean =
    plan.collectFirst { case node if node.logicalLink.isDefined => node.logicalLink.get }
      .exists(_ eq link)
}

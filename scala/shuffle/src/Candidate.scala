package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.execution.{SortExec, SparkPlan}
import org.apache.spark.sql.execution.exchange.{ENSURE_REQUIREMENTS, ShuffleExchangeExec}
import org.apache.spark.sql.execution.joins.ShuffledJoin

/**
 * A part of a plan that can do with a shuffle less.
 *
 * @param place the part
 * @param better what it becomes
 * @param changed the shuffles below that spread rows by fewer keys than before
 * @param keys by which rows are spread then
 */
private[shuffle] final case class Candidate(
    place: SparkPlan,
    better: SparkPlan,
    changed: Seq[Coarsened],
    keys: Seq[Expression]) {

  /** The logical node to which the decision is told: the nearest in the part. */
  def subject: Option[LogicalPlan] =
    better.find(_.logicalLink.isDefined).flatMap(_.logicalLink)
}

private[shuffle] object Candidate {

  /** All of a plan, the uppermost first. */
  def of(plan: SparkPlan): Iterator[Candidate] =
    plan.collect { case node @ (_: ShuffleExchangeExec | _: ShuffledJoin) => node }.iterator
      .flatMap {
        case shuffle: ShuffleExchangeExec => aboveShuffle(shuffle)
        case join: ShuffledJoin => besideInput(join)
        case _ => None
      }

  /** Whether Spark put this shuffle in to meet a requirement, by keys. */
  def isOfSpark(plan: SparkPlan): Boolean = plan match {
    case shuffle: ShuffleExchangeExec =>
      shuffle.shuffleOrigin == ENSURE_REQUIREMENTS &&
      shuffle.outputPartitioning.isInstanceOf[HashPartitioning]
    case _ => false
  }

  /** A shuffle whose input can be spread by the same keys. */
  private def aboveShuffle(shuffle: ShuffleExchangeExec): Option[Candidate] =
    shuffle.outputPartitioning match {
      case HashPartitioning(keys, partitions) if isOfSpark(shuffle) =>
        CoarserShuffle
          .of(shuffle.child, keys, partitions)
          .map(spread => Candidate(shuffle, spread.plan, spread.changed, keys))
      case _ => None
    }

  /**
   * A join one of whose inputs is spread by some of its keys already: it need not be spread by all of
   * them, if the other input is spread by the same.
   */
  private def besideInput(join: SparkPlan with ShuffledJoin): Option[Candidate] =
    if (join.isSkewJoin) None
    else
      beside(join, join.left, join.leftKeys, join.right, join.rightKeys)((l, r) => Seq(l, r))
        .orElse(beside(join, join.right, join.rightKeys, join.left, join.leftKeys)((r, l) =>
          Seq(l, r)))

  private def beside(
      join: SparkPlan,
      here: SparkPlan,
      hereKeys: Seq[Expression],
      there: SparkPlan,
      thereKeys: Seq[Expression])(
      children: (SparkPlan, SparkPlan) => Seq[SparkPlan]): Option[Candidate] =
    for {
      shuffle <- shuffleOf(here)
      (keys, partitions) <- shuffle.child.outputPartitioning match {
        case HashPartitioning(keys, partitions) => Some((keys, partitions))
        case _ => None
      }
      places = keys.map(key => hereKeys.indexWhere(_.semanticEquals(key)))
      if places.forall(_ >= 0)
      other <- CoarserShuffle.of(there, places.map(thereKeys), partitions)
    } yield {
      val without = here.transformDown { case node if node eq shuffle => shuffle.child }
      Candidate(join, join.withNewChildren(children(without, other.plan)), other.changed, keys)
    }

  /** Spark's shuffle at the top of a join's input, below no more than the join's sort. */
  private def shuffleOf(plan: SparkPlan): Option[ShuffleExchangeExec] = plan match {
    case shuffle: ShuffleExchangeExec if isOfSpark(shuffle) => Some(shuffle)
    case SortExec(_, false, child, _) => shuffleOf(child)
    case _ => None
  }
}

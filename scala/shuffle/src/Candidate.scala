package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.JoinSelectionHelper
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.plans.physical.{ClusteredDistribution, HashPartitioning}
import org.apache.spark.sql.execution.{LeafExecNode, ProjectExec, SortExec, SparkPlan}
import org.apache.spark.sql.execution.adaptive.QueryStageExec
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.{ENSURE_REQUIREMENTS, Exchange, ShuffleExchangeExec}
import org.apache.spark.sql.execution.joins.{BaseJoinExec, ShuffledJoin}

/**
 * A part of a plan that can do with a shuffle less.
 *
 * @param place the part
 * @param better what it becomes
 * @param changed the shuffles below that spread rows by fewer keys than before
 * @param keys by which rows are spread then
 * @param kept the input that decides by which keys and how, where there is one
 */
private[shuffle] final case class Candidate(
    place: SparkPlan,
    better: SparkPlan,
    changed: Seq[Coarsened],
    keys: Seq[Expression],
    kept: Option[Input] = None) {

  /** The logical node to which the decision is told: the nearest in the part. */
  def subject: Option[LogicalPlan] =
    better.find(_.logicalLink.isDefined).flatMap(_.logicalLink)

  /**
   * Shuffles that go, of a join's inputs, of which nothing below tells how much they give: there are
   * joins before the next shuffle or source. Only of inputs that may be broadcast.
   *
   * @param plan of which this is a part
   */
  def unmeasured(plan: SparkPlan): Seq[ShuffleExchangeExec] = {
    val leftOut = place match {
      case shuffle: ShuffleExchangeExec =>
        plan.collect { case join: ShuffledJoin => Candidate.broadcastable(join) }.flatten
          .filter(_ eq shuffle).take(1)
      case join: ShuffledJoin =>
        Candidate.broadcastable(join)
          .filterNot(shuffle => changed.exists(_.shuffle eq shuffle))
      case _ => Nil
    }
    leftOut.filter(shuffle => Candidate.isBehindJoin(shuffle.child))
  }

  /**
   * Whether the shuffle that goes has groups by its keys: no more of them than there are keys in each task,
   * however many rows they are made of.
   */
  def sparesGroups: Boolean = place match {
    case shuffle: ShuffleExchangeExec =>
      shuffle.child match {
        case partial: BaseAggregateExec if partial.requiredChildDistributionExpressions.isEmpty =>
          // A chain's shuffle may have been given fewer keys than its groups have.
          partial.groupingExpressions.forall(by => keys.exists(_.semanticEquals(by.toAttribute)))
        case _ => false
      }
    case _ => false
  }

  /** The shuffles and what becomes of them, but for the names of columns. */
  def canonicalChange: Set[(SparkPlan, Seq[Expression], Layout)] =
    changed.map { case Coarsened(shuffle, keys, layout) =>
      val columns = shuffle.child.output
      (
        shuffle.canonicalized,
        keys.map(QueryPlan.normalizeExpressions(_, columns).canonicalized),
        layout)
    }.toSet
}

private[shuffle] object Candidate extends JoinSelectionHelper {

  /** What becomes of a node and what is below it. */
  def at(node: SparkPlan): Option[Candidate] = node match {
    case shuffle: ShuffleExchangeExec => aboveShuffle(shuffle)
    case join: ShuffledJoin => besideInput(join)
    case _ => None
  }

  /**
   * Whether more than aggregates are behind a shuffle that goes from several places: Spark ran it once,
   * and what is below it.
   */
  def repeatsWork(alike: Seq[Candidate]): Boolean =
    alike.groupBy(_.place.canonicalized).exists { case (place, several) =>
      several.size > 1 && place.isInstanceOf[ShuffleExchangeExec] &&
      !several.head.place.children.forall(isCheap)
    }

  /** Down to the shuffles below. A filter may leave so little that Spark joins it by broadcast. */
  private def isCheap(plan: SparkPlan): Boolean = plan match {
    case _: ShuffleExchangeExec => true
    case _: BaseAggregateExec | _: ProjectExec | _: SortExec =>
      plan.children.forall(isCheap)
    case _ => false
  }

  /** Whether Spark put this shuffle in to meet a requirement, by keys. */
  def isOfSpark(plan: SparkPlan): Boolean = plan match {
    case shuffle: ShuffleExchangeExec =>
      shuffle.shuffleOrigin == ENSURE_REQUIREMENTS &&
      shuffle.outputPartitioning.isInstanceOf[HashPartitioning]
    case _ => false
  }

  /** The shuffles of inputs that adaptive execution may come to broadcast. */
  private def broadcastable(join: ShuffledJoin): Seq[ShuffleExchangeExec] = {
    val isHinted = join.logicalLink.exists {
      case logical: Join =>
        Seq(logical.hint.leftHint, logical.hint.rightHint).flatten.exists(_.strategy.isDefined)
      case _ => false
    }
    val sides = Seq(
      join.left -> canBuildBroadcastLeft(join.joinType),
      join.right -> canBuildBroadcastRight(join.joinType))
    if (isHinted) Nil else sides.collect { case (side, true) => side }.flatMap(shuffleOf(_))
  }

  private def isBehindJoin(plan: SparkPlan): Boolean = plan match {
    case _: BaseJoinExec => true
    case _: Exchange | _: QueryStageExec => false
    case other => other.children.exists(isBehindJoin)
  }

  /** A shuffle whose input can be spread by the same keys. */
  private def aboveShuffle(shuffle: ShuffleExchangeExec): Option[Candidate] =
    shuffle.outputPartitioning match {
      case HashPartitioning(keys, partitions) if isOfSpark(shuffle) =>
        asStored(shuffle, keys).orElse(spread(shuffle, keys, Hashed(partitions))).orElse {
          givenNumbers(shuffle.child).filter(_ != partitions).flatMap { number =>
            spread(shuffle, keys, Hashed(number))
              .map(_.copy(kept = Some(Input(shuffle.child, keys, Hashed(number), None))))
          }.nextOption()
        }
      case _ => None
    }

  /** Rows that lie as a table does which a join below has left where it is. */
  private def asStored(shuffle: ShuffleExchangeExec, keys: Seq[Expression]): Option[Candidate] =
    Input.stored(shuffle.child).filter { input =>
      (input.plan eq shuffle.child) && input.plan.outputPartitioning.satisfies(
        ClusteredDistribution(keys, requireAllClusterKeys = false))
    }.map(input => Candidate(shuffle, shuffle.child, Nil, input.keys, Some(input)))

  private def spread(
      shuffle: ShuffleExchangeExec,
      keys: Seq[Expression],
      layout: Layout): Option[Candidate] =
    CoarserShuffle
      .of(shuffle.child, keys, layout)
      .map(spread => Candidate(shuffle, spread.plan, spread.changed, keys))

  /** Numbers of partitions that tables in buckets, caches and shuffles of users have of themselves. */
  private def givenNumbers(plan: SparkPlan): Iterator[Int] =
    plan.collect {
      case leaf: LeafExecNode => leaf.outputPartitioning
      case shuffle: ShuffleExchangeExec if shuffle.shuffleOrigin != ENSURE_REQUIREMENTS =>
        shuffle.outputPartitioning
    }.collect { case HashPartitioning(_, number) => number }.distinct.iterator

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
      input <- Input.of(shuffle.child, hereKeys)
      places = input.keys.map(key => hereKeys.indexWhere(_.semanticEquals(key)))
      other <- CoarserShuffle.of(there, places.map(thereKeys), input.layout)
    } yield {
      val without = here.transformDown { case node if node eq shuffle => input.plan }
      val better = join.withNewChildren(children(without, other.plan))
      Candidate(join, better, other.changed, input.keys, Some(input))
    }

  /** Spark's shuffle at the top of a join's input, below no more than the join's sort. */
  private def shuffleOf(plan: SparkPlan): Option[ShuffleExchangeExec] = plan match {
    case shuffle: ShuffleExchangeExec if isOfSpark(shuffle) => Some(shuffle)
    case SortExec(_, false, child, _) => shuffleOf(child)
    case _ => None
  }
}

package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.JoinSelectionHelper
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.plans.physical.{ClusteredDistribution, HashPartitioning}
import org.apache.spark.sql.execution.{FilterExec, LeafExecNode, ProjectExec, SortExec, SparkPlan}
import org.apache.spark.sql.execution.adaptive.QueryStageExec
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.{ENSURE_REQUIREMENTS, Exchange, ShuffleExchangeExec}
import org.apache.spark.sql.execution.joins.{BaseJoinExec, ShuffledJoin}

/**
 * A part of a plan that can have one shuffle fewer.
 *
 * @param place the part
 * @param better its replacement
 * @param changed the shuffles below that spread rows by fewer keys than before
 * @param keys the keys that rows are spread by then
 * @param kept the input of a join that stays where it is and decides the keys and the layout, if
 *   there is one
 */
private[shuffle] final case class Candidate(
    place: SparkPlan,
    better: SparkPlan,
    changed: Seq[Coarsened],
    keys: Seq[Expression],
    kept: Option[Input] = None) {

  /** The logical node that keeps the decision: the nearest in the part. */
  def subject: Option[LogicalPlan] =
    better.find(_.logicalLink.isDefined).flatMap(_.logicalLink)

  /**
   * The inputs of joins that nothing measures without the removed shuffle, because joins, aggregates
   * or a filter of groups are between it and the next shuffle or source. Only inputs that may be
   * broadcast.
   *
   * @param plan the whole plan
   */
  def unmeasured(plan: SparkPlan): Seq[SparkPlan] = {
    def sides = plan.collect { case join: ShuffledJoin => Candidate.mayBeBroadcast(join) }.flatten
    val (leftOut, groups) = place match {
      case shuffle: ShuffleExchangeExec =>
        (
          sides.flatMap(Candidate.shuffleOf).filter(_ eq shuffle).take(1),
          sides.filter(Candidate.groupsOf(_).exists(_ eq shuffle)).take(1))
      case join: ShuffledJoin =>
        (
          Candidate.mayBeBroadcast(join).flatMap(Candidate.shuffleOf)
            .filterNot(shuffle => changed.exists(_.shuffle eq shuffle)),
          Nil)
      case _ => (Nil, Nil)
    }
    leftOut.map(_.child).filter(Candidate.isUnmeasured) ++ groups
  }

  /**
   * Whether the removed shuffle has groups by its keys. Each task then has at most as many of them
   * as there are keys, however many rows they come from.
   */
  def sparesGroups: Boolean = place match {
    case shuffle: ShuffleExchangeExec =>
      shuffle.child match {
        case partial: BaseAggregateExec if partial.requiredChildDistributionExpressions.isEmpty =>
          // In a chain this shuffle may already have fewer keys than its groups.
          partial.groupingExpressions.forall(by => keys.exists(_.semanticEquals(by.toAttribute)))
        case _ => false
      }
    case _ => false
  }

  /** The shuffles and their changes, without the names of columns. */
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

  /** The candidate at a node, if there is one. */
  def at(node: SparkPlan): Option[Candidate] = node match {
    case shuffle: ShuffleExchangeExec => aboveShuffle(shuffle)
    case join: ShuffledJoin => besideInput(join)
    case _ => None
  }

  /**
   * Whether a shuffle that is removed in several places has more than aggregates below it. Spark
   * ran the shuffle once, and with it everything below.
   */
  def repeatsWork(alike: Seq[Candidate]): Boolean =
    alike.groupBy(_.place.canonicalized).exists { case (place, several) =>
      several.size > 1 && place.isInstanceOf[ShuffleExchangeExec] &&
      !several.head.place.children.forall(isCheap)
    }

  /**
   * Only as far as the shuffles below. A filter does not count as cheap: it may leave so little
   * that Spark broadcasts the result.
   */
  private def isCheap(plan: SparkPlan): Boolean = plan match {
    case _: ShuffleExchangeExec => true
    case _: BaseAggregateExec | _: ProjectExec | _: SortExec =>
      plan.children.forall(isCheap)
    case _ => false
  }

  /** Whether Spark inserted this shuffle, by hash of keys, to meet a requirement. */
  def isOfSpark(plan: SparkPlan): Boolean = plan match {
    case shuffle: ShuffleExchangeExec =>
      shuffle.shuffleOrigin == ENSURE_REQUIREMENTS &&
      shuffle.outputPartitioning.isInstanceOf[HashPartitioning]
    case _ => false
  }

  /** The inputs that adaptive execution may decide to broadcast. */
  private def mayBeBroadcast(join: ShuffledJoin): Seq[SparkPlan] = {
    val isHinted = join.logicalLink.exists {
      case logical: Join =>
        Seq(logical.hint.leftHint, logical.hint.rightHint).flatten.exists(_.strategy.isDefined)
      case _ => false
    }
    val sides = Seq(
      join.left -> canBuildBroadcastLeft(join.joinType),
      join.right -> canBuildBroadcastRight(join.joinType))
    if (isHinted) Nil else sides.collect { case (side, true) => side }
  }

  /** Whether far fewer rows may come out than the next shuffle or source below measures. */
  private def isUnmeasured(plan: SparkPlan): Boolean = plan match {
    case _: BaseJoinExec => true
    case FilterExec(condition, _: BaseAggregateExec)
        if !FinishedShuffle.asksForValues(condition) => true
    case _: Exchange | _: QueryStageExec => false
    case other => other.children.exists(isUnmeasured)
  }

  /** The shuffle of the groups that an input consists of. */
  private def groupsOf(input: SparkPlan): Option[ShuffleExchangeExec] = input match {
    case _: SortExec | _: ProjectExec | _: FilterExec => groupsOf(input.children.head)
    case groups: BaseAggregateExec => shuffleOf(groups.child)
    case _ => None
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

  /** The input has the layout of a table that a join below has left in place. */
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
      .map { spread =>
        val candidate = Candidate(shuffle, spread.plan, spread.changed, keys)
        if (!OlderSpark.keepsPartitions(spread.plan)) candidate
        else candidate.copy(kept = Some(Input(spread.plan, keys, layout, None)))
      }

  /** Numbers of partitions of bucketed tables, caches and shuffles of the user. */
  private def givenNumbers(plan: SparkPlan): Iterator[Int] =
    plan.collect {
      case leaf: LeafExecNode => leaf.outputPartitioning
      case shuffle: ShuffleExchangeExec if shuffle.shuffleOrigin != ENSURE_REQUIREMENTS =>
        shuffle.outputPartitioning
    }.collect { case HashPartitioning(_, number) => number }.distinct.iterator

  /**
   * A join with one input that is spread by some of the join's keys. It need not be spread by all
   * of them, if the other input is spread by the same keys.
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

  /** Spark's shuffle of a join's input, at the top or below the join's sort. */
  private def shuffleOf(plan: SparkPlan): Option[ShuffleExchangeExec] = plan match {
    case shuffle: ShuffleExchangeExec if isOfSpark(shuffle) => Some(shuffle)
    case sort: SortExec if !sort.global => shuffleOf(sort.child)
    case _ => None
  }
}

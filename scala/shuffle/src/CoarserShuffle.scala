package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, ExprId, NamedExpression}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight}
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, FullOuter, InnerLike, JoinType, LeftAnti, LeftOuter, LeftSemi, RightOuter}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.{ClusteredDistribution, UnspecifiedDistribution}
import org.apache.spark.sql.execution.{BinaryExecNode, FilterExec, ProjectExec, SparkPlan, UnaryExecNode, UnionExec}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.joins.{BroadcastHashJoinExec, BroadcastNestedLoopJoinExec, ShuffledJoin}
import org.apache.spark.sql.execution.window.WindowExecBase
import org.apache.spark.sql.firesteel.KeyedTables

/** A shuffle of Spark's, and the fewer keys that it is to spread its rows by. */
private[shuffle] final case class Coarsened(
    shuffle: ShuffleExchangeExec,
    keys: Seq[Expression],
    layout: Layout)

/** A plan whose rows are spread by the wanted keys, and the shuffles that were changed for that. */
private[shuffle] final case class Spread(plan: SparkPlan, changed: Seq[Coarsened])

/**
 * Makes a plan spread its rows by fewer keys, without an additional shuffle.
 *
 * Each operator passes the request to its input, in terms of the input's columns, and agrees only
 * if its own requirement still holds: rows with equal (a, b) are also together when they are spread
 * by a alone. The request ends at Spark's own shuffles, which take any keys, and at inputs that are
 * already spread by these keys. A shuffle that the user wrote keeps its keys.
 */
private[shuffle] object CoarserShuffle {

  def of(plan: SparkPlan, keys: Seq[Expression], layout: Layout): Option[Spread] =
    layout.of(plan, keys).map(Spread(_, Nil)).orElse(plan match {
      case shuffle: ShuffleExchangeExec => ofShuffle(shuffle, keys, layout)
      case join: ShuffledJoin if !join.isSkewJoin =>
        byEqual(join, keys)(ofJoin(join, _, layout))
      case join: BroadcastHashJoinExec => ofBroadcast(join, keys, layout)
      case join: BroadcastNestedLoopJoinExec =>
        ofStreamed(join, if (join.buildSide == BuildRight) 0 else 1, keys, keys, layout)
      case merged: MergedKeysExec => of(merged.child, keys, layout)
      case union: UnionExec => ofUnion(union, keys, layout)
      // It needs a partitioning that only a source can report.
      case grouping if KeyedTables.isGrouping(grouping) => None
      case filter: FilterExec => byEqual(filter, keys)(ofUnary(filter, _, layout))
      case window: WindowExecBase => ofWindow(window, keys, layout)
      case unary: UnaryExecNode => ofUnary(unary, keys, layout)
      case _ => None
    })

  /** Tries the keys first, then columns that are equal to them. */
  private def byEqual(plan: SparkPlan, keys: Seq[Expression])(
      spread: Seq[Expression] => Option[Spread]): Option[Spread] =
    spread(keys).orElse {
      EqualColumns
        .alternatives(plan, keys)
        .flatMap(equal => renamed(spread(equal), keys, equal))
        .nextOption()
    }

  /** Only the window's own keys can replace others. */
  private def ofWindow(
      window: WindowExecBase,
      keys: Seq[Expression],
      layout: Layout): Option[Spread] =
    ofUnary(window, keys, layout).orElse {
      EqualColumns.among(window, keys, window.partitionSpec).flatMap { equal =>
        renamed(ofUnary(window, equal, layout), keys, equal)
      }
    }

  private def renamed(
      spread: Option[Spread],
      keys: Seq[Expression],
      equal: Seq[Expression]): Option[Spread] =
    spread.map(found => found.copy(plan = EqualColumns.renamed(found.plan, keys, equal)))

  private def ofShuffle(
      shuffle: ShuffleExchangeExec,
      keys: Seq[Expression],
      layout: Layout): Option[Spread] =
    if (!Candidate.isOfSpark(shuffle)) None
    else layout.of(shuffle.child, keys).map(Spread(_, Nil)).orElse {
      layout.by(keys).filter(_ => keys.forall(isOf(_, shuffle.child))).map { partitioning =>
        val coarser = shuffle.copy(outputPartitioning = partitioning)
        coarser.copyTagsFrom(shuffle)
        OutputWatch.mark(coarser, keys.map(_.sql).mkString(", "))
        Spread(
          together(coarser, keys, shuffle.child.logicalLink),
          Seq(Coarsened(shuffle, keys, layout)))
      }
    }

  /** If a key is a cast of a column, rows with equal values of the column are together, too. */
  private def together(
      plan: SparkPlan,
      keys: Seq[Expression],
      link: Option[LogicalPlan]): SparkPlan = {
    val columns = keys.map {
      case column: Attribute => Some(column)
      case key => ExactColumn.underCasts(key)
    }
    if (keys.forall(_.isInstanceOf[Attribute]) || columns.exists(_.isEmpty)) plan
    else {
      val together = TogetherExec(keys, columns.flatten, plan)
      // With the link adaptive execution keeps this node with the shuffle after the shuffle has
      // run.
      link.foreach(together.setTagValue(SparkPlan.LOGICAL_PLAN_TAG, _))
      together
    }
  }

  private def ofUnary(
      unary: UnaryExecNode,
      keys: Seq[Expression],
      layout: Layout): Option[Spread] =
    for {
      below <- inTermsOfInput(unary, keys)
      spread <- of(unary.child, below, layout)
      // An unchanged input satisfies this: Spark has ensured it.
      if spread.plan.outputPartitioning.satisfies(unary.requiredChildDistribution.head)
      result = unary.withNewChildren(Seq(spread.plan))
      if result.outputPartitioning.satisfies(clusteredBy(keys))
    } yield Spread(result, spread.changed)

  /** Keys in terms of the input's columns; `None` if one of them is computed here. */
  private def inTermsOfInput(
      unary: UnaryExecNode,
      keys: Seq[Expression]): Option[Seq[Expression]] = {
    val outputs: Seq[NamedExpression] = unary match {
      case project: ProjectExec => project.projectList
      case aggregate: BaseAggregateExec => aggregate.resultExpressions
      case other => other.output
    }
    val columns: Map[ExprId, Expression] = outputs.collect {
      case attribute: Attribute => attribute.exprId -> attribute
      case alias: Alias => alias.exprId -> alias.child
    }.toMap
    val below = keys.map(_.transformUp {
      case attribute: Attribute => columns.getOrElse(attribute.exprId, attribute)
    })
    if (below.forall(key => isKey(key) && isOf(key, unary.child))) Some(below) else None
  }

  /**
   * A column; a cast that keeps equal values equal and different values different; or the merged
   * key of a full outer join over these.
   */
  private def isKey(key: Expression): Boolean = key match {
    case _: Attribute | MergedKey(_) => true
    case _ => ExactColumn.underCasts(key).isDefined
  }

  /** Both sides by the keys at the same places: matching rows still meet. */
  private def ofJoin(
      join: SparkPlan with ShuffledJoin,
      keys: Seq[Expression],
      layout: Layout): Option[Spread] = {
    val places = keys.map { key =>
      def at(side: Seq[Expression]): Option[Int] =
        Some(side.indexWhere(_.semanticEquals(key))).filter(_ >= 0)
      // On the side that is padded with nulls the keys are not the ones that rows were spread by.
      join.joinType match {
        case _: InnerLike => at(join.leftKeys).orElse(at(join.rightKeys))
        case joinType if keepsLeft(joinType) => at(join.leftKeys)
        case RightOuter => at(join.rightKeys)
        case FullOuter =>
          val both = join.leftKeys.zip(join.rightKeys)
          Some(both.indexWhere { case (l, r) => MergedKey.isOf(key, l, r) }).filter(_ >= 0)
        case _ => None
      }
    }
    if (places.exists(_.isEmpty)) None
    else
      ofSides(join, places.flatten, keys, layout).orElse {
        // If it is spread by fewer keys than these, a full outer join does not report it itself.
        Some(said(join, join, keys)).filter { known =>
          val partitioning = known.outputPartitioning
          join.joinType == FullOuter && partitioning.numPartitions == layout.partitions &&
          partitioning.satisfies(clusteredBy(keys))
        }.map(Spread(_, Nil))
      }
  }

  /** @param result the join with other inputs */
  private def said(join: ShuffledJoin, result: SparkPlan, keys: Seq[Expression]): SparkPlan =
    if (join.joinType == FullOuter) MergedKeysExec(keys, result) else result

  private def ofSides(
      join: SparkPlan with ShuffledJoin,
      places: Seq[Int],
      keys: Seq[Expression],
      layout: Layout): Option[Spread] =
    for {
      left <- of(join.left, places.map(join.leftKeys), layout)
      right <- of(join.right, places.map(join.rightKeys), layout)
      if areTogether(join, left.plan, right.plan)
      result = said(join, join.withNewChildren(Seq(left.plan, right.plan)), keys)
      if result.outputPartitioning.satisfies(clusteredBy(keys))
    } yield Spread(result, left.changed ++ right.changed)

  private def areTogether(join: SparkPlan, left: SparkPlan, right: SparkPlan): Boolean =
    left.outputPartitioning.numPartitions == right.outputPartitioning.numPartitions &&
      join.requiredChildDistribution.zip(Seq(left, right)).forall { case (required, side) =>
        required != UnspecifiedDistribution && side.outputPartitioning.satisfies(required)
      }

  private def keepsLeft(joinType: JoinType): Boolean = joinType match {
    case LeftOuter | LeftSemi | LeftAnti | _: ExistenceJoin => true
    case _ => false
  }

  /** For an inner join either side's key serves: Spark knows that the output has both. */
  private def ofBroadcast(
      join: BroadcastHashJoinExec,
      keys: Seq[Expression],
      layout: Layout): Option[Spread] = {
    val (streamed, here, there) =
      if (join.buildSide == BuildLeft) (1, join.rightKeys, join.leftKeys)
      else (0, join.leftKeys, join.rightKeys)
    val below = join.joinType match {
      case _: InnerLike =>
        val streamedKeys = there.zip(here)
        keys.map { key =>
          streamedKeys.collectFirst { case (built, key2) if built.semanticEquals(key) => key2 }
            .getOrElse(key)
        }
      case _ => keys
    }
    ofStreamed(join, streamed, keys, below, layout)
  }

  /** @param below the keys in terms of the streamed side */
  private def ofStreamed(
      join: BinaryExecNode,
      streamed: Int,
      keys: Seq[Expression],
      below: Seq[Expression],
      layout: Layout): Option[Spread] =
    for {
      spread <- of(join.children(streamed), below, layout)
      result = join.withNewChildren(join.children.updated(streamed, spread.plan))
      if result.outputPartitioning.satisfies(clusteredBy(keys))
    } yield Spread(result, spread.changed)

  /**
   * All branches by the columns at the same places: Spark then combines their partitions one by
   * one.
   */
  private def ofUnion(
      union: UnionExec,
      keys: Seq[Expression],
      layout: Layout): Option[Spread] = {
    val places = keys.map(key => union.output.indexWhere(_.semanticEquals(key)))
    if (places.exists(_ < 0)) None
    else {
      val branches =
        union.children.map(branch => of(branch, places.map(branch.output), layout))
      for {
        all <- if (branches.forall(_.isDefined)) Some(branches.flatten) else None
        result = planned(union, all.map(_.plan))
        if OlderSpark.saysHowItLies(result)
        if result.outputPartitioning.satisfies(clusteredBy(keys))
      } yield Spread(result, all.flatMap(_.changed))
    }
  }

  /**
   * A new union node. A union that Spark has already prepared with other branches only concatenates
   * them.
   */
  private def planned(union: UnionExec, branches: Seq[SparkPlan]): UnionExec = {
    val fresh = UnionExec(branches)
    union.logicalLink.foreach(fresh.setLogicalLink)
    fresh
  }

  private def clusteredBy(keys: Seq[Expression]): ClusteredDistribution =
    ClusteredDistribution(keys, requireAllClusterKeys = false)

  private def isOf(key: Expression, plan: SparkPlan): Boolean =
    key.deterministic && key.references.nonEmpty && key.references.subsetOf(plan.outputSet)
}

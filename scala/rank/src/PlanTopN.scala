package io.firesteel.rank

import io.firesteel.core.decide.{Decline, OptionalStrategy}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{AttributeSet, Expression, WindowExpression}
import org.apache.spark.sql.catalyst.optimizer.InferWindowGroupLimit
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SparkPlan}
import org.apache.spark.sql.firesteel.binaryKey
import org.apache.spark.sql.internal.SQLConf

/**
 * Plans the first n rows per key with bounded heaps instead of a sort of every row.
 *
 * {{{
 *   Filter (rn <= 3)                                       TopN [k], [v DESC], rn
 *   +- Window [row_number() OVER (k, v DESC) AS rn]   =>   +- Exchange hashpartitioning(k)
 *      +- child                                               +- PartialTopN [k], [v DESC]
 *                                                                +- child
 * }}}
 *
 * The plan is right because the rank of a row depends only on rows that sort before it or equal it,
 * and all of these are kept if the row is. A filter above applies conditions that the bound does
 * not cover (`rn >= 2`, `v > 0`).
 *
 * This is a strategy and not an optimizer rule. So every rule of Spark sees Spark's own window:
 * keys are normalised, empty inputs removed, columns pruned. Adaptive execution replans with the
 * same strategy.
 *
 * The cases of [[RankDecline]] are the reasons to decline. Flink counterpart:
 * `FlinkLogicalRankRule`.
 */
final class PlanTopN(session: SparkSession)
  extends OptionalStrategy[RankQuery]("rank", RankConf.ENABLED) {

  override protected def recognise(plan: LogicalPlan): Option[RankQuery] = RankQuery.unapply(plan)

  override protected def subject(query: RankQuery): LogicalPlan = query.window

  override protected def decide(query: RankQuery): Either[Decline, SparkPlan] =
    for {
      _ <- refuse(hinted(query))
      _ <- refuse(otherWindow(query))
      _ <- refuse(projectionBetween(query))
      _ <- refuse(otherFunction(query))
      _ <- refuse(noOrder(query))
      bound <- RankBound
        .of(query.condition, query.functionOf)
        .toRight(unbounded(query))
      _ <- refuse(takenBySpark(query))
      _ <- refuse(tooLarge(bound))
      _ <- refuse(nonDeterministic(query))
      _ <- refuse(unsupportedKey(query))
      _ <- refuse(NativeWindow.instead(session, query))
    } yield planned(query, bound)

  private def planned(query: RankQuery, bound: RankBound): SparkPlan = {
    val (partitionBy, orderBy) = (query.window.partitionSpec, query.window.orderSpec)
    val residual = RankQuery.residual(query.condition, bound, query.ranks)
    val needed = query.readAbove(residual, query.window.output)
    val (ranks, functions) = query.ranks.filter { case (rank, _) => needed.contains(rank) }.unzip
    val partial = PartialTopNExec(partitionBy, orderBy, bound, planLater(query.child))
    val topN: SparkPlan = TopNExec(partitionBy, orderBy, bound, ranks, functions, partial)
    val filtered = residual.fold(topN)(FilterExec(_, topN))
    val wanted = query.project.getOrElse(query.window.output)
    val result = if (wanted == filtered.output) filtered else ProjectExec(wanted, filtered)
    // Later operators bind columns by position: a wrong position would be a wrong answer.
    require(
      result.output.map(_.exprId) == wanted.map(_.exprId),
      s"$result does not have the columns $wanted")
    require(
      AttributeSet.fromAttributeSets(wanted.map(_.references)).subsetOf(filtered.outputSet),
      s"$filtered lacks columns that $wanted reads")
    result
  }

  private def refuse(why: Option[Decline]): Either[Decline, Unit] = why.toLeft(())

  private def hinted(query: RankQuery): Option[Decline] =
    query.window.hint.map(_ => RankDecline.WindowHinted)

  /** A window between the rank and the filter reads every row. */
  private def otherWindow(query: RankQuery): Option[Decline] =
    query.above.headOption.map { window =>
      RankDecline.OtherWindowAbove(window.windowExpressions.head.children.head.sql)
    }

  private def unbounded(query: RankQuery): Decline =
    if (RankQuery.isJoinedByOr(query)) RankDecline.SeveralWindows(query.condition.sql)
    else RankDecline.NoUpperBound(query.condition.sql)

  private def projectionBetween(query: RankQuery): Option[Decline] =
    if (query.adjacent) None else Some(RankDecline.ProjectionBetween)

  private def noOrder(query: RankQuery): Option[Decline] =
    if (specification(query).nonEmpty) None else Some(RankDecline.NoOrder)

  /**
   * Another function of the window. Spark's optimizer may have rewritten it: it computes a sum of
   * decimals from a sum of longs, for example.
   */
  private def otherFunction(query: RankQuery): Option[Decline] =
    query.window.windowExpressions.map(_.children.head).collectFirst {
      case call: WindowExpression if RankFunction.of(call.windowFunction).isEmpty =>
        RankDecline.OtherFunction(call.windowFunction.sql)
      case other if !other.isInstanceOf[WindowExpression] => RankDecline.OtherFunction(other.sql)
    }

  /**
   * Without keys, Spark turns a bounded `ROW_NUMBER` into a limit over a sort. The limits are those
   * that Spark's rule reads.
   */
  private def takenBySpark(query: RankQuery): Option[Decline] = {
    val limits = query.ranks.collect {
      case (rank, RankFunction.RowNumbers) =>
        InferWindowGroupLimit.extractLimits(query.condition, rank)
    }.flatten
    val conf = SQLConf.get
    val isTaken = limits.exists { limit =>
      limit <= conf.windowGroupLimitThreshold && limit < conf.topKSortFallbackThreshold
    }
    if (query.window.partitionSpec.isEmpty && isTaken) {
      Some(RankDecline.SparkTakesOrdered)
    } else None
  }

  private def tooLarge(bound: RankBound): Option[Decline] = {
    val max = SQLConf.get.getConf(RankConf.MAX_LIMIT)
    if (bound.limit > max) Some(RankDecline.LimitTooLarge(bound.limit, max)) else None
  }

  private def nonDeterministic(query: RankQuery): Option[Decline] =
    specification(query).find(!_.deterministic).map(e => RankDecline.NonDeterministic(e.sql))

  private def unsupportedKey(query: RankQuery): Option[Decline] =
    query.window.partitionSpec
      .find(key => !UnsafeRowUtils.isBinaryStable(binaryKey(key).dataType))
      .map(key => RankDecline.UnsupportedKey(key.sql, key.dataType.simpleString))

  private def specification(query: RankQuery): Seq[Expression] =
    query.window.partitionSpec ++ query.window.orderSpec.map(_.child)
}

object PlanTopN {

  /** As `firesteel.explain` names the rule. */
  private[rank] val RULE: String = classOf[PlanTopN].getSimpleName
}

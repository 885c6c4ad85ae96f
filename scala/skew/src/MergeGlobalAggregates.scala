package io.firesteel.skew

import io.firesteel.core.decide.{Decisions, Fired}
import io.firesteel.core.expressions.SumOrder
import org.apache.spark.sql.catalyst.expressions.{Attribute, NamedExpression}
import org.apache.spark.sql.catalyst.plans.InnerLike
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{AGGREGATE, JOIN}

/**
 * Computes several aggregates without `GROUP BY` over one input in one pass over it, as in TPC-DS
 * q28.
 *
 * {{{
 *   Join Inner                               Project [a, n, b]
 *   :- Join Inner                            +- Join Inner
 *   :  :- Aggregate [avg(x) AS a]               :- Aggregate [avg(x) FILTER (f1) AS a,
 *   :  :  +- Filter (q <= 5)                    :              max(x) FILTER (f2) AS b]
 *   :  :     +- t                       =>      :  +- Project [x, (q <= 5) AS f1, (q > 90) AS f2]
 *   :  +- names                                 :     +- Filter ((q <= 5) OR (q > 90))
 *   +- Aggregate [max(x) AS b]                  :        +- t
 *      +- Filter (q > 90)                       +- names
 *         +- t
 * }}}
 *
 * Why it is right: each of these aggregates has exactly one row, whatever its input, so a join
 * without a condition only combines their columns. A function with `FILTER` sees the rows that it
 * saw before, in the same order. No expression is evaluated on a row on which Spark would not
 * evaluate it, unless it cannot fail ([[io.firesteel.core.expressions.CannotFail]]).
 * [[MergeDecline]] lists the reasons to decline.
 *
 * It runs after predicates and projections have been pushed down to the inputs, and before
 * [[KeepDistinctAggregates]], which then sees all `DISTINCT`s together. Spark's `MergeSubplans`
 * merges aggregates with equal filters. It merges different filters only with a setting that is off
 * by default
 * (`spark.sql.optimizer.mergeSubplans.filterPropagation.symmetricFilterPropagation.enabled`).
 */
object MergeGlobalAggregates extends Rule[LogicalPlan] {

  private val name = "MergeGlobalAggregates"

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (plan.isStreaming || !plan.containsAllPatterns(JOIN, AGGREGATE)) plan else merge(plan)

  private def merge(plan: LogicalPlan): LogicalPlan = plan match {
    case join: Join if isCross(join) => mergeParts(join)
    case other => other.mapChildren(merge)
  }

  private def isCross(join: Join): Boolean =
    join.condition.isEmpty && join.joinType.isInstanceOf[InnerLike]

  private def mergeParts(join: Join): LogicalPlan = {
    val parts = partsOf(join).map(merge).toIndexedSeq
    // The merged aggregate replaces the first part of a group. The other parts are removed.
    val changed = groupsOf(parts).flatMap { group =>
      val (places, branches) = group.unzip
      (places.head -> Option(merged(branches))) +: places.tail.map(_ -> None)
    }.toMap
    val kept = parts.zipWithIndex.map { case (part, at) => changed.getOrElse(at, Some(part)) }
    val rebuilt = rebuild(join, kept.iterator).getOrElse(join)
    if (changed.isEmpty) rebuilt else inOrder(join.output, rebuilt)
  }

  /** Aggregates to merge, with their places among `parts`. */
  private def groupsOf(parts: Seq[LogicalPlan]): Seq[Seq[(Int, GlobalBranch)]] = {
    val branches = for {
      (part, at) <- parts.zipWithIndex
      branch <- GlobalBranch.of(part)
    } yield at -> branch
    branches
      .groupBy { case (_, branch) => branch.input.canonicalized }
      .values
      .filter(_.size > 1)
      .map(decide)
      .filter(_.nonEmpty)
      .toSeq
  }

  private def merged(branches: Seq[GlobalBranch]): LogicalPlan = {
    val plan = withColumns(branches.flatMap(_.columns), MergedAggregate.of(branches))
    reportFired(plan, branches)
    plan
  }

  /** The parts that are joined, from left to right. */
  private def partsOf(plan: LogicalPlan): Seq[LogicalPlan] = plan match {
    case join: Join if isCross(join) => partsOf(join.left) ++ partsOf(join.right)
    case other => Seq(other)
  }

  /** The same joins over the parts that remain. */
  private def rebuild(
      plan: LogicalPlan,
      parts: Iterator[Option[LogicalPlan]]): Option[LogicalPlan] = plan match {
    case join: Join if isCross(join) =>
      val left = rebuild(join.left, parts)
      val right = rebuild(join.right, parts)
      (left, right) match {
        case (Some(a), Some(b)) => Some(join.withNewChildren(Seq(a, b)))
        case (one, other) => one.orElse(other)
      }
    case _ => parts.next()
  }

  private def inOrder(output: Seq[Attribute], plan: LogicalPlan): LogicalPlan = {
    val found = plan.output.map(column => column.exprId -> column).toMap
    withColumns(output.map(column => found(column.exprId)), plan)
  }

  private def withColumns(columns: Seq[NamedExpression], plan: LogicalPlan): LogicalPlan =
    if (columns.map(_.exprId) == plan.output.map(_.exprId)) plan else Project(columns, plan)

  /** The branches to merge, all over the first one's input. Branches left out get their reason. */
  private def decide(group: Seq[(Int, GlobalBranch)]): Seq[(Int, GlobalBranch)] = {
    val input = group.head._2.input
    val (refused, fit) = group.partitionMap { case (at, its) =>
      val branch = its.over(input)
      MergeObjection.to(branch)
        .orElse(SumOrder.confused(its.input, input).map(e => MergeDecline.SumOrder(e.sql)))
        .map(branch -> _).toLeft(at -> branch)
    }
    refused.foreach { case (branch, why) => Decisions.decline(branch.aggregate, name, why) }
    if (fit.size < 2) Nil
    else MergeObjection.toAll(fit.map(_._2)).fold(fit) { why =>
      fit.foreach { case (_, branch) => Decisions.decline(branch.aggregate, name, why) }
      Nil
    }
  }

  private def reportFired(merged: LogicalPlan, branches: Seq[GlobalBranch]): Unit = {
    val filters = branches.map(_.filter).distinct.size
    // All nodes above the input.
    val made = Iterator.iterate[LogicalPlan](merged)(_.children.head)
      .takeWhile(_ ne branches.head.input)
    Decisions.fire(
      made.toSeq,
      Fired(
        name,
        s"${branches.size} aggregates are computed in one pass over their common input",
        Map("aggregates" -> branches.size.toString, "filters" -> filters.toString)
      )
    )
  }
}

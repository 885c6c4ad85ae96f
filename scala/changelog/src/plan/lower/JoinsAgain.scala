package io.firesteel.changelog.plan.lower

import io.firesteel.changelog.plan.{JoinBelow, JoinedSide, StreamJoin}
import io.firesteel.changelog.state.PlanVersion

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, ExprId}
import org.apache.spark.sql.catalyst.plans.{FullOuter, Inner}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}

/**
 * Which joins keep no rows of their left side, because it is a join by the same keys in the same store,
 * with columns chosen and renamed in between: its rows are joined again when a row of the right side
 * comes (Flink: MultiJoin, by a hint or a setting).
 *
 * That takes as many reads as a copy of these rows would, and none of the writes, as long as all rows
 * of a key match. So a join below with a condition beside its keys is joined again if a hint asks for
 * it: many pairs may be tried for few rows.
 */
private[lower] object JoinsAgain {

  /** @param left the side as it is kept otherwise, of the columns of `input` */
  def below(
      join: StreamJoin,
      left: JoinedSide,
      input: LogicalPlan,
      placed: Placed): Option[JoinBelow] =
    if (placed.placement.version < PlanVersion.joinsAgain || !isWhole(join)) None
    else
      for {
        (node, columns) <- find(input, input.output.map(c => c.exprId -> c.exprId).toMap)
        member <- node.contract.placement.guest
        if !left.replaces && keepsRows(node) && (node.condition.isEmpty || join.isMulti) &&
          haveSameKeys(left, node, columns) &&
          // Rows with a null in their key are not in state.
          (node.joinType == Inner || node.leftSide.nullsMatchNothing.forall(!join.matchesNulls(_)))
        stored <- places(left.stored, node, columns)
      } yield JoinBelow(
        member,
        stored,
        keysOf(node).map(ids => columns.collect { case (out, in) if ids(in) => out }.toSet))

  /** Whether the changes of a join do not depend on how its left rows matched before. */
  private def isWhole(join: StreamJoin): Boolean =
    join.joinType != FullOuter && (join.joinType == Inner || join.condition.isEmpty) &&
      join.ttlMs == 0L && join.bounds.isEmpty && !join.isSnapshot && !join.isInSlots

  /** Whether a join keeps all that its result is made of. */
  private def keepsRows(node: ChangelogJoin): Boolean =
    node.joinType != FullOuter && (node.joinType == Inner || node.condition.isEmpty) &&
      node.contract.ttl.isEmpty && node.leftSide.bound.isEmpty && !node.isSnapshot && !node.isInSlots

  /** The join below projections, and for each column of the plan the one of the join that it is. */
  @tailrec
  private def find(
      plan: LogicalPlan,
      columns: Map[ExprId, ExprId]): Option[(ChangelogJoin, Map[ExprId, ExprId])] = plan match {
    case node: ChangelogJoin => Some(node -> columns)
    case Project(list, child) =>
      val renamed = list.collect {
        case alias @ Alias(column: Attribute, _) => alias.exprId -> column.exprId
        case column: Attribute => column.exprId -> column.exprId
      }.toMap
      find(child, columns.flatMap { case (out, in) => renamed.get(in).map(out -> _) })
    case _ => None
  }

  /** For each key the columns of the result that have its value in all rows that are in state. */
  private def keysOf(node: ChangelogJoin): Seq[Set[ExprId]] = node.leftSide.keys.indices.map { i =>
    val ofRight = if (node.joinType == Inner) Some(node.rightSide.keys(i).exprId) else None
    Set(node.leftSide.keys(i).exprId) ++ ofRight ++ node.below.fold(Set.empty[ExprId])(_.keys(i))
  }

  private def haveSameKeys(
      left: JoinedSide,
      node: ChangelogJoin,
      columns: Map[ExprId, ExprId]): Boolean =
    left.keys.size == node.leftSide.keys.size && left.keys.zip(keysOf(node)).forall {
      case (key, ids) => columns.get(key.exprId).exists(ids)
    }

  private def places(
      stored: Seq[Attribute],
      node: ChangelogJoin,
      columns: Map[ExprId, ExprId]): Option[Seq[Int]] = {
    val at = stored.map { column =>
      columns.get(column.exprId).fold(-1)(id => node.output.indexWhere(_.exprId == id))
    }
    Option.when(!at.contains(-1))(at)
  }
}

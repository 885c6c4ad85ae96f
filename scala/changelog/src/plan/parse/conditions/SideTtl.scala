package io.firesteel.changelog.plan.parse.conditions

import io.firesteel.changelog.sql.InputHint

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.plans.logical.{Filter, Generate, Join, LateralJoin, LogicalPlan, Project, ResolvedHint, SubqueryAlias, View}

/** The hint `STATE_TTL('o' = '1d')` at a join's input, which may stand below what keeps no state. */
private[changelog] object SideTtl {

  /**
   * In milliseconds.
   *
   * @param isStateless whether a join keeps no state
   */
  @tailrec
  def of(input: LogicalPlan)(isStateless: Join => Boolean): Option[Long] = input match {
    case InputHint(Some(ms), _, _) => Some(ms)
    case _: InputHint | _: SubqueryAlias | _: View | _: Filter | _: Project | _: ResolvedHint | _: Generate |
        _: LateralJoin => of(input.children.head)(isStateless)
    case join: Join if isStateless(join) =>
      of(if (join.left.isStreaming) join.left else join.right)(isStateless)
    case _ => None
  }
}

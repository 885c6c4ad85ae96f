package io.firesteel.changelog.plan.parse.conditions

import io.firesteel.changelog.sql.{InputHint, StateTtl}

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.plans.logical.{Expand, Filter, Generate, GlobalLimit, LocalLimit, LogicalPlan, Offset, Project, RebalancePartitions, RepartitionOperation, ResolvedHint, Sort, SubqueryAlias, View}

/** An order in which rows reach what stands above them. */
private[changelog] object SortBelow {

  @tailrec
  def apply(rows: LogicalPlan): Option[Sort] = rows match {
    case sort: Sort => Some(sort)
    case _: Project | _: Filter | _: SubqueryAlias | _: View | _: ResolvedHint | _: StateTtl |
        _: InputHint | _: RepartitionOperation | _: RebalancePartitions | _: Generate | _: Expand =>
      apply(rows.children.head)
    case _ => None
  }

  /** The same, also of a limit's rows, which come in the order by which they are the first. */
  @tailrec
  def limited(rows: LogicalPlan): Option[Sort] = rows match {
    case _: GlobalLimit | _: LocalLimit | _: Offset => limited(rows.children.head)
    case _: Project | _: Filter | _: SubqueryAlias | _: View | _: ResolvedHint | _: StateTtl |
        _: InputHint =>
      limited(rows.children.head)
    case _ => apply(rows)
  }
}

package io.firesteel.core.plans

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, SubqueryAlias, View}

/** A relation that a join asks by key, and does not read whole. */
private[firesteel] trait ReadByKey extends LogicalPlan {

  /**
   * The same, asked in the tasks where the rows to be joined are, and answering in their order.
   *
   * @param why as plans tell it where something else was asked for
   */
  def inPlace(why: String): LogicalPlan
}

private[firesteel] object ReadByKey {

  /** Whether a plan is such a relation below no more than projections and filters. */
  @tailrec
  def isBelow(plan: LogicalPlan): Boolean = plan match {
    case _: ReadByKey => true
    case _: Project | _: Filter | _: SubqueryAlias | _: View => isBelow(plan.children.head)
    case _ => false
  }

  /** A plan with each relation that is asked by key asked in place. */
  def inPlace(plan: LogicalPlan, why: String): LogicalPlan = plan match {
    case relation: ReadByKey => relation.inPlace(why)
    case other => other.mapChildren(inPlace(_, why))
  }
}

package io.firesteel.core.plans

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, ResolvedHint, SubqueryAlias, View}

/** A relation that a join reads by key, and not as a whole. */
private[firesteel] trait ReadByKey extends LogicalPlan {

  /**
   * The same relation, read in the tasks of the probe side and answering in its order.
   *
   * @param why the reason, shown in the plan if the query asked for something else
   */
  def inPlace(why: String): LogicalPlan

  /** The text of the time after `FOR SYSTEM_TIME AS OF`, if the query has one. */
  def asOf: Option[String] = None
}

private[firesteel] object ReadByKey {

  /** Whether a plan is such a relation below projections and filters only. */
  @tailrec
  def isBelow(plan: LogicalPlan): Boolean = plan match {
    case _: ReadByKey => true
    case _: Project | _: Filter | _: SubqueryAlias | _: View | _: ResolvedHint =>
      isBelow(plan.children.head)
    case _ => false
  }

  /** The plan, with each relation that is read by key read in place. */
  def inPlace(plan: LogicalPlan, why: String): LogicalPlan = plan match {
    case relation: ReadByKey => relation.inPlace(why)
    case other => other.mapChildren(inPlace(_, why))
  }
}

package io.firesteel.core

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

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

  def isIn(plan: LogicalPlan): Boolean = plan.exists(_.isInstanceOf[ReadByKey])

  /** A plan with each relation that is asked by key asked in place. */
  def inPlace(plan: LogicalPlan, why: String): LogicalPlan = plan match {
    case relation: ReadByKey => relation.inPlace(why)
    case other => other.mapChildren(inPlace(_, why))
  }
}

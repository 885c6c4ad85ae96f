package io.firesteel.lookup

import io.firesteel.core.CoreConf
import io.firesteel.core.decide.Decline

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.firesteel.confOf

/**
 * Gives the joins back to Spark that were marked before the room was switched off: a DataFrame keeps
 * the marks of its analysis. The planner plans every mark that is left, so a switch that turns while a
 * query runs does not matter to it.
 *
 * It runs before Spark plans scans, because a dimension may become one here.
 */
private[firesteel] object UnmarkSwitchedOff extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (Decline.switchedOff("lookup", LookupConf.ENABLED).isEmpty) plan else unmarked(plan)

  private def unmarked(plan: LogicalPlan): LogicalPlan = plan match {
    // An operator of a stream reads its answers in the order of the rows.
    case table: LookupTable if table.inOrder.nonEmpty => table
    case table: LookupTable if table.asOf.nonEmpty =>
      throw LookupErrors.switchedOff(table.name.getOrElse(table.child.nodeName))
    case table: LookupTable => unmarked(table.child)
    case relation: LookupRelation =>
      relation.scan.getOrElse(throw LookupErrors.notScannable(relation.name))
    case other => other.mapChildren(unmarked)
  }

  /** Whether the session has the room on. A view's body has the settings of its creation. */
  def isOn(session: SparkSession): Boolean = {
    val conf = confOf(session)
    conf.getConf(CoreConf.ENABLED) && conf.getConf(LookupConf.ENABLED)
  }
}

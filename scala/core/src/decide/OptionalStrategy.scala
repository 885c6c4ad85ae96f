package io.firesteel.core.decide

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.firesteel.ConfigEntry

/**
 * A planner strategy with switches.
 *
 * Two questions are separate: whether the room recognises the plan (`recognise`), and how it is
 * planned (`decide`). The switches are read here and nowhere else. A recognised plan always ends as
 * a physical plan of firesteel, or with a recorded reason.
 *
 * @tparam Q a room's description of a recognised plan
 */
abstract class OptionalStrategy[Q](room: String, switch: ConfigEntry[Boolean])
  extends SparkStrategy {

  /** The rule's name in `firesteel.explain`. */
  final def ruleName: String = getClass.getSimpleName.stripSuffix("$")

  /** A description of `plan`; none if this room does not recognise it. */
  protected def recognise(plan: LogicalPlan): Option[Q]

  /** The logical node that the query is about, from which Spark plans its own operator. */
  protected def subject(query: Q): LogicalPlan

  /** A physical plan for a recognised query, or the reason to decline it. */
  protected def decide(query: Q): Either[Decline, SparkPlan]

  final override def apply(plan: LogicalPlan): Seq[SparkPlan] =
    recognise(plan) match {
      case None => Nil
      case Some(query) =>
        Decline.switchedOff(room, switch).toLeft(()).flatMap(_ => decide(query)) match {
          case Left(why) =>
            Decisions.decline(subject(query), ruleName, why)
            Nil
          case Right(planned) =>
            Decisions.fire(subject(query), ruleName)
            planned :: Nil
        }
    }
}

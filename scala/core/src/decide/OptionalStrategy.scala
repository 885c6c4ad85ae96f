package io.firesteel.core.decide

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.firesteel.ConfigEntry

/**
 * A planner strategy that a user can switch off.
 *
 * Two questions are kept apart: does this room know the shape of a plan (`recognise`), and what
 * becomes of it (`decide`). The switches are read here and nowhere else; a recognised plan always
 * ends as a physical plan of ours or with a recorded reason.
 *
 * @tparam Q what a room knows of a recognised plan
 */
abstract class OptionalStrategy[Q](room: String, switch: ConfigEntry[Boolean])
  extends SparkStrategy {

  /** The rule's name in `firesteel.explain`. */
  final def ruleName: String = getClass.getSimpleName.stripSuffix("$")

  /** What `plan` is to this room; `None` for a plan that is none of its business. */
  protected def recognise(plan: LogicalPlan): Option[Q]

  /** The logical node that the query is about, from which Spark plans its own operator. */
  protected def subject(query: Q): LogicalPlan

  /** A physical plan for a recognised query, or the reason to leave it to Spark. */
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

package io.firesteel.lookup

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedHint}
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Raises the error for a `LOOKUP` hint that no rule has taken, because its text came too late. Spark
 * removes such a hint afterwards with a warning in its log.
 */
private[lookup] object RefuseUntakenHint extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach {
      case UnresolvedHint(name, parameters, _) if ResolveLookupHint.takes(name) =>
        throw LookupErrors.untakenHint(ResolveLookupHint.text(parameters))
      case _ => ()
    }
    plan
  }
}

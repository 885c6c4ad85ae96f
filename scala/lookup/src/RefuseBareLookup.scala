package io.firesteel.lookup

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

/** Raises the error for a dimension that can only be looked up and is read in another way. */
private[firesteel] object RefuseBareLookup extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case relation: LookupRelation => throw LookupErrors.notScannable(relation.name)
    case table: LookupTable =>
      table.child.collectFirst { case relation: LookupRelation => relation.name } match {
        case Some(name) => throw LookupErrors.notScannable(name)
        case None => throw LookupErrors.notScannable(table.child.nodeName)
      }
    case _ => Nil
  }
}

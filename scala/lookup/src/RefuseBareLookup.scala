package io.firesteel.lookup

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

/** Says what is wrong where a dimension that can only be looked up is read in some other way. */
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

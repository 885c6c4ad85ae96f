package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** A node that says whether it keeps state. Spark asks it. */
trait StatefulLogicalPlan extends LogicalPlan {
  override def isStateful: Boolean = isStreaming
}

package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** A node that says whether it keeps state. Spark knows its own such nodes, and asks no other. */
trait StatefulLogicalPlan extends LogicalPlan {
  def isStateful: Boolean = isStreaming
}

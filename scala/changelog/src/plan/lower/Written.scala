package io.firesteel.changelog.plan.lower

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** The logical plan of an operator, and its column of kinds; none if the rows are insert-only. */
final private[lower] case class Written(plan: LogicalPlan, kind: Option[Attribute])

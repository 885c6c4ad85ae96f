package org.apache.spark.sql.firesteel

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.TransformExpression
import org.apache.spark.sql.catalyst.plans.physical.KeyedPartitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.datasources.v2.GroupPartitionsExec

/** What [[KeyedTables]] uses that the releases of 4.2 have in different forms. */
private[firesteel] object KeyedInternals {

  val areThere: Boolean = true

  def mayHaveOtherValues(table: KeyedPartitioning): Boolean = table.mayContainUnknownPartitionKeys

  def grouped(plan: SparkPlan): SparkPlan =
    GroupPartitionsExec(plan, None, None, None, false, None)

  def isComputed(function: TransformExpression): Boolean =
    try function.resolvedFunction.isDefined
    catch { case NonFatal(_) => false } // Spark's error for a function without an implementation
}

package org.apache.spark.sql.firesteel

import java.lang.reflect.{InvocationTargetException, Method}

import org.apache.spark.sql.catalyst.expressions.TransformExpression
import org.apache.spark.sql.catalyst.plans.physical.KeyedPartitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.datasources.v2.GroupPartitionsExec

/**
 * What [[KeyedTables]] uses that the releases of 4.2 have in different forms. 4.2.1 is as 4.3. 4.2.0,
 * which is compiled against, cannot say whether rows may have a value that no partition has: on it
 * tables are left to Spark.
 */
private[firesteel] object KeyedInternals {

  private val unknownKeys: Option[Method] =
    classOf[KeyedPartitioning].getMethods.find(_.getName == "mayContainUnknownPartitionKeys")

  val areThere: Boolean = unknownKeys.isDefined

  def mayHaveOtherValues(table: KeyedPartitioning): Boolean =
    unknownKeys.forall(_.invoke(table) == Boolean.box(true))

  /** The last argument is an order of the rows, and in 4.2.0 a switch. */
  def grouped(plan: SparkPlan): SparkPlan = classOf[GroupPartitionsExec].getConstructors.head
    .newInstance(plan, None, None, None, Boolean.box(false), None)
    .asInstanceOf[SparkPlan]

  /** Private in 4.2.0. */
  private lazy val resolvedFunction = classOf[TransformExpression].getMethod("resolvedFunction")

  def isComputed(function: TransformExpression): Boolean =
    try resolvedFunction.invoke(function) != None
    catch { case _: InvocationTargetException => false } // there is no implementation
}

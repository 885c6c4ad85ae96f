package io.firesteel.lookup

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.firesteel.UnrepeatableRDD

/** Declares to Spark that a second run of the partitioner would send rows elsewhere. */
private[lookup] final case class UnrepeatableExec(child: SparkPlan) extends UnaryExecNode {
  override def nodeName: String = "Unrepeatable"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override protected def doExecute(): RDD[InternalRow] = new UnrepeatableRDD(child.execute())
  override protected def withNewChildInternal(newChild: SparkPlan): UnrepeatableExec =
    copy(child = newChild)
}

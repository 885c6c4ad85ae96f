package io.firesteel.changelog.rules

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, UnknownPartitioning}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/** Executes [[io.firesteel.changelog.plan.lower.SinkRows]]. */
final private[rules] case class SinkRowsExec(child: SparkPlan) extends UnaryExecNode {
  override def nodeName: String = "SinkRows"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning =
    UnknownPartitioning(child.outputPartitioning.numPartitions)
  override protected def doExecute(): RDD[InternalRow] = child.execute()
  override protected def withNewChildInternal(newChild: SparkPlan): SinkRowsExec =
    copy(child = newChild)
}

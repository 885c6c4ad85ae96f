package io.firesteel.changelog.state.inputs

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.{LeafExecNode, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.firesteel.streaming.StatefulOperatorStateInfo

/**
 * A table that is no stream, below an operator that keeps its rows in state: the first micro-batch
 * reads it, and later ones read nothing.
 */
final private[changelog] case class ReadOnceExec(child: SparkPlan) extends UnaryExecNode {
  override def nodeName: String = "ReadOnce"
  override def output: Seq[Attribute] = child.output
  override protected def doExecute(): RDD[InternalRow] = child.execute()
  override protected def withNewChildInternal(newChild: SparkPlan): ReadOnceExec =
    copy(child = newChild)
}

private[changelog] object ReadOnceExec {

  /** The plan as the micro-batch of this state runs it. */
  private[changelog] def in(state: StatefulOperatorStateInfo, plan: SparkPlan): SparkPlan =
    if (state.storeVersion == 0L) plan
    else plan.transformUp { case ReadOnceExec(child) => ReadOnceExec(NoRowsExec(child.output)) }
}

final private[changelog] case class NoRowsExec(output: Seq[Attribute]) extends LeafExecNode {
  override protected def doExecute(): RDD[InternalRow] = sparkContext.emptyRDD[InternalRow]
}

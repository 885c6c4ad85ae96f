package io.firesteel.changelog.state.inputs

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * A watermark of one operator's own.
 *
 * Spark computes an exchange once where two operators read the same rows, and leaves a reference in
 * the other place. It follows a watermark down the plan, but not through a reference: the second
 * operator would have none, and would close nothing. This node makes the two inputs differ.
 */
final private[changelog] case class OwnSourceExec(operatorId: Long, child: SparkPlan)
  extends UnaryExecNode {
  override def nodeName: String = "OwnSource"
  override def argString(maxFields: Int): String = operatorId.toString
  override def output: Seq[Attribute] = child.output
  override protected def doExecute(): RDD[InternalRow] = child.execute()
  override protected def withNewChildInternal(newChild: SparkPlan): OwnSourceExec =
    copy(child = newChild)
}

private[changelog] object OwnSourceExec {

  def below(operatorId: Long, plan: SparkPlan): SparkPlan = plan.transformUp {
    case source if source.nodeName == "EventTimeWatermark" => OwnSourceExec(operatorId, source)
  }
}

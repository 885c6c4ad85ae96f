package io.firesteel.changelog.statements

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.firesteel.PartitionRows

/**
 * What a statement writes in a micro-batch. It names the statement in plans, and the operators below
 * it are the statement's own.
 */
final private[changelog] case class StatementRows(name: String, mode: String, child: LogicalPlan)
  extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(newChild: LogicalPlan): StatementRows =
    copy(child = newChild)
}

/** Counts the rows of a statement. See [[StatementRows]]. */
final private[changelog] case class StatementRowsExec(
    name: String,
    mode: String,
    child: SparkPlan)
  extends UnaryExecNode {

  override def nodeName: String = "Statement"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning

  override lazy val metrics: Map[String, SQLMetric] =
    Map("numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected def doExecute(): RDD[InternalRow] = {
    val rows = longMetric("numOutputRows")
    def counted(its: Iterator[InternalRow]) = its.map { row =>
      rows += 1
      row
    }
    PartitionRows.mapped(child.execute())(counted)
  }

  override def simpleString(maxFields: Int): String = s"$nodeName $name, $mode mode"

  override protected def withNewChildInternal(newChild: SparkPlan): StatementRowsExec =
    copy(child = newChild)
}

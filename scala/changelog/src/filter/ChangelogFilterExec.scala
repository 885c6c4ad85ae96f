package io.firesteel.changelog.filter

import io.firesteel.core.rows.KeyReader
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.firesteel.PartitionRows

/** Executes [[ChangelogFilter]]. */
final private[changelog] case class ChangelogFilterExec(
    passes: Attribute,
    kind: Attribute,
    kindOut: Attribute,
    child: SparkPlan)
  extends UnaryExecNode {

  override def nodeName: String = "ChangelogFilter"
  override def argString(maxFields: Int): String = passes.toString
  override def output: Seq[Attribute] =
    child.output.map(column => if (column.exprId == kind.exprId) kindOut else column)
  override def producedAttributes: AttributeSet = AttributeSet(kindOut)
  override def outputPartitioning: Partitioning = child.outputPartitioning

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected def doExecute(): RDD[InternalRow] = {
    val (in, out) = (child.output, longMetric("numOutputRows"))
    val passesAt = in.indexWhere(_.exprId == passes.exprId)
    val kindAt = in.indexWhere(_.exprId == kind.exprId)
    PartitionRows.mapped(child.execute()) { rows =>
      new FilteredChanges(KeyReader.unsafe(rows, in), passesAt, kindAt).map { row => out += 1; row }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
    copy(child = newChild)
}

package io.firesteel.changelog.tablejoin

import io.firesteel.core.rows.ColumnProjection

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, GenericInternalRow, JoinedRow}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.firesteel.PartitionRows

/** Executes [[ChangelogNumbers]]. */
final private[changelog] case class ChangelogNumbersExec(number: Attribute, child: SparkPlan)
  extends UnaryExecNode {

  override def nodeName: String = "ChangelogNumbers"
  override def argString(maxFields: Int): String = number.toString
  override def output: Seq[Attribute] = child.output :+ number
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def producedAttributes: AttributeSet = AttributeSet(number)

  override protected def doExecute(): RDD[InternalRow] = {
    val columns = output
    PartitionRows.mapped(child.execute()) { rows =>
      val toOutput = ColumnProjection(columns, columns)
      val (joined, last) = (new JoinedRow, new GenericInternalRow(1))
      var next = 0L
      rows.map { row =>
        last.update(0, next)
        next += 1
        toOutput(joined(row, last))
      }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
    copy(child = newChild)
}

package io.firesteel.changelog.state.inputs

import io.firesteel.core.rows.ColumnProjection

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet, GenericInternalRow, JoinedRow}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.exchange.{REPARTITION_BY_NUM, ShuffleExchangeExec}
import org.apache.spark.sql.firesteel.shuffleByNumber
import org.apache.spark.sql.types.IntegerType
import org.apache.spark.sql.firesteel.PartitionRows

/** Emits each row once per partition of the state; the last column has the partition's number. */
final private[changelog] case class ReplicateRowsExec(
    partition: Attribute,
    numPartitions: Int,
    child: SparkPlan)
  extends UnaryExecNode {

  override def nodeName: String = "ReplicateRows"
  override def output: Seq[Attribute] = child.output :+ partition
  override def producedAttributes: AttributeSet = AttributeSet(partition)

  override protected def doExecute(): RDD[InternalRow] = {
    val (columns, copies) = (output, numPartitions)
    PartitionRows.mapped(child.execute()) { rows =>
      val toOutput = ColumnProjection(columns, columns)
      val (joined, number) = (new JoinedRow, new GenericInternalRow(1))
      rows.flatMap { row =>
        Iterator.tabulate(copies) { i =>
          number.setInt(0, i)
          toOutput(joined(row, number))
        }
      }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
    copy(child = newChild)
}

private[changelog] object ReplicateRowsExec {

  /**
   * The rows in each of `numPartitions` partitions. The exchange has the origin of a user's
   * `repartition`, so Spark neither coalesces its partitions nor removes it.
   */
  def everywhere(rows: SparkPlan, numPartitions: Int): SparkPlan = {
    val partition = AttributeReference("partition", IntegerType, nullable = false)()
    ShuffleExchangeExec(
      shuffleByNumber(partition, numPartitions),
      ReplicateRowsExec(partition, numPartitions, rows),
      REPARTITION_BY_NUM)
  }
}

package io.firesteel.changelog.upsert

import io.firesteel.core.rows.ColumnProjection

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, AttributeSet, GenericInternalRow, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.{ClusteredDistribution, Distribution, Partitioning}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.firesteel.PartitionRows

/**
 * Executes [[NetRecords]]. All changes of a key are in one task and adjacent, so one record of the
 * key is written in a micro-batch, by one task.
 *
 * Memory: the different rows of one key in a micro-batch.
 */
final private[changelog] case class NetRecordsExec(
    key: Attribute,
    row: Attribute,
    kind: Attribute,
    value: Attribute,
    child: SparkPlan)
  extends UnaryExecNode {

  override def nodeName: String = "NetRecords"
  override def argString(maxFields: Int): String = key.toString
  override def output: Seq[Attribute] = Seq(key, value)
  override def producedAttributes: AttributeSet = AttributeSet(value)
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def requiredChildDistribution: Seq[Distribution] = Seq(ClusteredDistribution(Seq(key)))
  override def requiredChildOrdering: Seq[Seq[SortOrder]] = Seq(Seq(SortOrder(key, Ascending)))

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected def doExecute(): RDD[InternalRow] = {
    val (out, rows) = (output, longMetric("numOutputRows"))
    val at = Seq(key, row, kind).map(c => child.output.indexWhere(_.exprId == c.exprId))
    PartitionRows.mapped(child.execute()) { changes =>
      val toUnsafe = ColumnProjection(out, out)
      val read = changes.map { change =>
        // The rows of a scan are reused.
        KeyChange(
          change.getUTF8String(at.head).clone(),
          change.getUTF8String(at(1)).clone(),
          change.getByte(at(2)))
      }
      new NetRecordsIterator(read).map { record =>
        rows += 1
        toUnsafe(new GenericInternalRow(Array[Any](record.key, record.value.orNull)))
      }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): NetRecordsExec =
    copy(child = newChild)
}

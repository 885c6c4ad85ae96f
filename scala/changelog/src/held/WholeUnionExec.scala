package io.firesteel.changelog.held

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, UnknownPartitioning}
import org.apache.spark.sql.execution.{SparkPlan, UnionExec}
import org.apache.spark.sql.firesteel.PartitionRows

/**
 * A union of operators with state. Where its inputs are distributed alike, Spark 4.1 and newer reads
 * them in one task one after the other, and does not begin with an input that a join above leaves
 * unread. A store that was not opened misses a version. This one opens all inputs of a task first.
 */
final private[changelog] case class WholeUnionExec(children: Seq[SparkPlan]) extends SparkPlan {

  private def ofSpark = UnionExec(children)

  override def nodeName: String = "Union"
  override def output: Seq[Attribute] = ofSpark.output
  override def outputPartitioning: Partitioning = ofSpark.outputPartitioning

  override protected def doExecute(): RDD[InternalRow] = {
    val inputs = children.map(_.execute())
    outputPartitioning match {
      case _: UnknownPartitioning => sparkContext.union(inputs)
      case _ => PartitionRows.mapped(PartitionRows.together(inputs))(_.next().iterator.flatten)
    }
  }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[SparkPlan]): WholeUnionExec = copy(newChildren)
}

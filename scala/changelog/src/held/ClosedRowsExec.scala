package io.firesteel.changelog.held

import io.firesteel.changelog.plan.share.SharedViewExec
import io.firesteel.changelog.state.StatefulChangelogExec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * The rows that Spark's operators make of closed windows. In most micro-batches no window closes:
 * then the operators below write their state, and those of Spark, with their shuffles, do not run.
 */
final private[changelog] case class ClosedRowsExec(child: SparkPlan) extends UnaryExecNode {

  override def nodeName: String = "ClosedRows"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = {
    val rows = child.execute()
    val (windows, views) = inputs(child)
    // Each has been told by now which watermark this micro-batch has.
    if (windows.exists(_.closesNow) || views.exists(!_.part.isEmpty)) rows
    else {
      if (windows.nonEmpty) {
        sparkContext.union(windows.map(_.execute())).foreachPartition(_.foreach(_ => ()))
      }
      // An operator above may have its state where these rows would lie.
      sparkContext.parallelize(Seq.empty[InternalRow], rows.getNumPartitions)
    }
  }

  /** The operators that keep windows until they close, and parts that have. */
  private def inputs(plan: SparkPlan): (Seq[StatefulChangelogExec], Seq[SharedViewExec]) =
    plan match {
      case operator: StatefulChangelogExec => (Seq(operator), Nil)
      case view: SharedViewExec => (Nil, Seq(view))
      case other =>
        val (operators, views) = other.children.map(inputs).unzip
        (operators.flatten, views.flatten)
    }

  override protected def withNewChildInternal(newChild: SparkPlan): ClosedRowsExec =
    copy(child = newChild)
}

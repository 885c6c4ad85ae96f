package io.firesteel.shuffle

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, BindReferences, SortOrder, XxHash64}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * Passes its rows through, and keeps the keys of some of them for decisions after the shuffle above
 * has run.
 *
 * For Spark's reuse of shuffles this node equals its child.
 */
private[shuffle] final case class CountedKeysExec(
    keys: Seq[Attribute],
    rowsPerTask: Int,
    counts: KeyCounts,
    child: SparkPlan)
  extends UnaryExecNode {

  override def nodeName: String = "CountedKeys"
  override def simpleString(maxFields: Int): String = s"$nodeName ${keys.mkString("[", ", ", "]")}"
  override def output: Seq[Attribute] = child.output
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override protected def doCanonicalize(): SparkPlan = child.canonicalized

  override protected def doExecute(): RDD[InternalRow] = {
    val hash = BindReferences.bindReference(new XxHash64(keys), child.output)
    val (limit, counts) = (rowsPerTask, this.counts)
    child.execute().mapPartitions { rows =>
      val sample = new SampledKeys(limit)
      TaskContext.get().addTaskCompletionListener[Unit] { task =>
        counts.add((task.partitionId(), sample))
      }
      rows.map { row =>
        if (sample.wantsNext()) sample.add(hash.eval(row).asInstanceOf[Long])
        row
      }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): CountedKeysExec =
    copy(child = newChild)
}

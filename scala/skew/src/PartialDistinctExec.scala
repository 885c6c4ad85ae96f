package io.firesteel.skew

import io.firesteel.core.{KeyIndex, KeyReader, MergeableAggregates, TaskMemoryBudget}
import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, SinglePartition, UnknownPartitioning}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.firesteel.countPeakMemory
import org.apache.spark.sql.types.StructType

/**
 * Makes blocks of groups and their distinct values, each for a bucket.
 *
 * Memory: what Spark's memory manager grants, up to `spark.firesteel.skew.maxTaskMemory`; when it is
 * refused, everything held is sent on. Beside that, values wait for their block: two million at most, with
 * over 512 buckets four million, with over 16,384 buckets 256 for each.
 *
 * @param added for each distinct column the value that a row adds, null for none
 * @param numbers for each distinct column whether a value is eight bytes
 * @param bucket says where a block goes, so that equal values meet
 * @param buckets how many there are, if the query says so
 */
case class PartialDistinctExec(
    grouping: Seq[Attribute],
    ordinary: Seq[AggregateExpression],
    added: Seq[Attribute],
    numbers: Seq[Boolean],
    bucket: Attribute,
    block: Attribute,
    buckets: Option[Int],
    child: SparkPlan)
  extends UnaryExecNode {

  override def nodeName: String = "PartialDistinct"

  override def output: Seq[Attribute] = Seq(bucket, block)

  override def producedAttributes: AttributeSet = AttributeSet(output)

  override def outputPartitioning: Partitioning = child.outputPartitioning match {
    case SinglePartition => SinglePartition
    case other => UnknownPartitioning(other.numPartitions)
  }

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numInputRows" -> SQLMetrics.createMetric(sparkContext, "number of input rows"),
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of blocks"),
    "passedOn" -> SQLMetrics.createMetric(sparkContext, "values sent on unseen"),
    "peakMemory" -> SQLMetrics.createSizeMetric(sparkContext, "peak memory")
  )

  override protected def doExecute(): RDD[InternalRow] = {
    // Locals, so that the closure carries these values and not the whole plan.
    val (grouping, ordinary, added) = (this.grouping, this.ordinary, this.added)
    val (numbers, input) = (this.numbers.toArray, child.output)
    val fields = added.map(_.dataType match {
      case several: StructType => several.size
      case _ => 1
    }).toArray
    val isNumber = KeyIndex.isNumber(grouping)
    val names = Buckets.names(buckets.getOrElse(conf.numShufflePartitions))
    val cap = conf.getConf(SkewConf.MAX_TASK_MEMORY).getOrElse(Long.MaxValue)
    val (sample, share) =
      (conf.getConf(SkewConf.SAMPLE_VALUES), conf.getConf(SkewConf.MAX_NEW_VALUES))
    val (in, out) = (longMetric("numInputRows"), longMetric("numOutputRows"))
    val (passed, peak) = (longMetric("passedOn"), longMetric("peakMemory"))
    child.execute().mapPartitions { rows =>
      val budget = TaskMemoryBudget.ofThisTask(cap)
      val aggregates = new MergeableAggregates(ordinary, input)
      val partial = new PartialDistinct(
        KeyReader.unsafe(rows, input).map { row => in += 1; row },
        new Groups(isNumber, grouping.size, aggregates),
        numbers,
        fields,
        new KeyReader(grouping, input),
        added.map(KeyReader.placeOf(_, input)).toArray,
        names.length,
        budget,
        sample,
        share
      )
      TaskContext.get().addTaskCompletionListener[Unit] { task =>
        passed += partial.passedOn
        peak += budget.peak
        countPeakMemory(task, budget.peak)
      }
      val writer = new UnsafeRowWriter(2)
      partial.map { case (bucket, block) =>
        out += 1
        writer.reset()
        writer.write(0, names(bucket))
        writer.write(1, block)
        writer.getRow: UnsafeRow
      }
    }
  }

  override def simpleString(maxFields: Int): String =
    s"$nodeName ${grouping.mkString("[", ", ", "]")}, " +
      s"distinct=${added.mkString("[", ", ", "]")}, functions=${ordinary.mkString("[", ", ", "]")}"

  override protected def withNewChildInternal(newChild: SparkPlan): PartialDistinctExec =
    copy(child = newChild)
}

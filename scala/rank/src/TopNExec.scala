package io.firesteel.rank

import io.firesteel.core.rows.TaskMemoryBudget
import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.{AllTuples, ClusteredDistribution, Distribution, Partitioning}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.firesteel.countPeakMemory

/**
 * Keeps exactly the rows that satisfy `bound` and computes their ranks.
 *
 * It requires an input that is clustered by key, in any order. If the input is sorted already, it
 * only counts rows. It emits the rows of a key together and in order.
 *
 * Memory: the grants of Spark's memory manager. If it refuses, rows go to an external sorter.
 *
 * @param ranks rank columns to append to the output; empty if nothing above reads them
 * @param functions the function of each rank column
 */
case class TopNExec(
    partitionBy: Seq[Expression],
    orderBy: Seq[SortOrder],
    bound: RankBound,
    ranks: Seq[Attribute],
    functions: Seq[RankFunction],
    child: SparkPlan)
  extends TopNNode {

  override def nodeName: String = "TopN"

  override def output: Seq[Attribute] = child.output ++ ranks

  override def producedAttributes: AttributeSet = AttributeSet(ranks)

  override def requiredChildDistribution: Seq[Distribution] =
    Seq(if (partitionBy.isEmpty) AllTuples else ClusteredDistribution(partitionBy))

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] =
    if (sortedInput) child.outputOrdering
    else if (partitionBy.isEmpty) orderBy
    else Nil

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numInputRows" -> SQLMetrics.createMetric(sparkContext, "number of input rows"),
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "spillSize" -> SQLMetrics.createSizeMetric(sparkContext, "spill size"),
    "peakMemory" -> SQLMetrics.createSizeMetric(sparkContext, "peak memory")
  )

  override protected def doExecute(): RDD[InternalRow] = {
    // Local values, so that the closure does not serialise the whole plan.
    val (keys, functions) = (this.keys, this.functions)
    val (in, out) = (longMetric("numInputRows"), longMetric("numOutputRows"))
    val (spill, peak) = (longMetric("spillSize"), longMetric("peakMemory"))
    val (sorted, limits) = (sortedInput, TopNLimits.of(conf))
    child.execute().mapPartitions { rows =>
      val counted = rows.map { row => in += 1; row }
      if (sorted) {
        def numbered() =
          new NumberedSortedRows(counted, keys.newKeyOf(), keys.newOrder(), keys.bound)
        new RankedRowIterator(() => numbered(), keys.input, functions, out)
      } else {
        val budget = TaskMemoryBudget.ofThisTask(limits.maxTaskMemory)
        val topN = new FinalTopN(
          keys.newHeaps(budget),
          keys.newKeyOf(),
          keys.newPrefixOf(),
          keys.bound,
          limits.newVerdict(),
          () => new SpilledRows(keys.partitionBy, keys.orderBy, keys.input)
        )
        val task = TaskContext.get()
        def numbered() = {
          val rows = topN.number(counted)
          spill += topN.spilledBytes
          peak += budget.peak + topN.sorterMemory
          countPeakMemory(task, budget.peak)
          rows
        }
        new RankedRowIterator(() => numbered(), keys.input, functions, out)
      }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): TopNExec =
    copy(child = newChild)
}

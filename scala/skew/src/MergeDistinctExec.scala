package io.firesteel.skew

import io.firesteel.core.decide.FiredOperator
import io.firesteel.core.plans.GrowsRows
import io.firesteel.core.rows.{KeyIndex, MergeableAggregates, TaskMemoryBudget}
import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSeq, AttributeSet, UnsafeProjection}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.physical.{ClusteredDistribution, Distribution, Partitioning, SinglePartition, UnknownPartitioning}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.firesteel.{countPeakMemory, countSpilled}
import org.apache.spark.sql.types.DataType

/**
 * Finds the distinct values of a bucket. Like a partial aggregate it emits a row for each group:
 * key and states.
 *
 * Memory: reserved from Spark's memory manager, up to `spark.firesteel.skew.maxTaskMemory`. If
 * Spark refuses, the operator spills.
 *
 * @param columns the functions of each distinct column, over `values`
 * @param values the columns of a distinct value
 * @param counted for each column whether all of its functions are counts
 * @param numbers for each column whether a value is eight bytes
 * @param buckets number of buckets, if a hint gives one
 */
case class MergeDistinctExec(
    keys: Seq[Attribute],
    ordinary: Seq[AggregateExpression],
    columns: Seq[Seq[AggregateExpression]],
    values: Seq[Seq[Attribute]],
    counted: Seq[Boolean],
    numbers: Seq[Boolean],
    bucket: Attribute,
    buckets: Option[Int],
    override val output: Seq[Attribute],
    child: SparkPlan)
  extends UnaryExecNode
  with GrowsRows
  with FiredOperator {

  /** A block has many groups. Its rows take about as many bytes. */
  override def growth: Int = 2

  override def nodeName: String = "MergeDistinct"

  override def producedAttributes: AttributeSet =
    AttributeSet(output) ++ AttributeSet(values.flatten) ++ AttributeSet(keys) ++
      AttributeSet.fromAttributeSets((ordinary ++ columns.flatten).map(_.references))

  // No child produces these columns. A canonical plan identifies them by their places here; without
  // that Spark would not reuse a shuffle above.
  override lazy val allAttributes: AttributeSeq = {
    val read = (ordinary ++ columns.flatten).flatMap(_.collect { case column: Attribute => column })
    new AttributeSeq((child.output ++ keys ++ values.flatten ++ read).distinctBy(_.exprId))
  }

  override def requiredChildDistribution: Seq[Distribution] =
    Seq(ClusteredDistribution(Seq(bucket), requiredNumPartitions = buckets))

  override def outputPartitioning: Partitioning = child.outputPartitioning match {
    case SinglePartition => SinglePartition
    case other => UnknownPartitioning(other.numPartitions)
  }

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "spillSize" -> SQLMetrics.createSizeMetric(sparkContext, "spill size"),
    "peakMemory" -> SQLMetrics.createSizeMetric(sparkContext, "peak memory")
  )

  override protected def doExecute(): RDD[InternalRow] = {
    val start = new MergeDistinctStart(
      KeyIndex.isNumber(keys),
      keys.size,
      ordinary,
      columns.indices.map { i =>
        MergeColumnStart(columns(i), values(i), counted(i), numbers(i))
      },
      output.map(_.dataType).toArray
    )
    val types = DataTypeUtils.fromAttributes(output)
    val cap = conf.getConf(SkewConf.MAX_TASK_MEMORY).getOrElse(Long.MaxValue)
    val (out, spill, peak) =
      (longMetric("numOutputRows"), longMetric("spillSize"), longMetric("peakMemory"))
    child.execute().mapPartitions { rows =>
      val budget = TaskMemoryBudget.ofThisTask(cap)
      val task = TaskContext.get()
      task.addTaskCompletionListener[Unit] { ended =>
        peak += budget.peak
        countPeakMemory(ended, budget.peak)
      }
      val spilled = (bytes: Long) => { spill += bytes; countSpilled(task, bytes) }
      val merge = new MergeDistinct(start, budget, level = 0, spilled)
      val toUnsafe = UnsafeProjection.create(types)
      merge.rows(rows.map(_.getBinary(1))).map { row =>
        out += 1
        toUnsafe(row): InternalRow
      }
    }
  }

  override def firedRule: String = PlanDistinctAggregate.ruleName

  override def firedMessage: String =
    "each row is read once, not once for each column with DISTINCT"

  override def firedValues: Map[String, String] =
    Map("keys" -> keys.map(_.name).mkString(", "), "distinct" -> columns.size.toString)

  override def simpleString(maxFields: Int): String =
    s"$nodeName ${keys.mkString("[", ", ", "]")}, " +
      s"distinct=${columns.map(_.map(_.aggregateFunction).mkString("(", ", ", ")")).mkString("[", ", ", "]")}"

  override protected def withNewChildInternal(newChild: SparkPlan): MergeDistinctExec =
    copy(child = newChild)
}

/** Creates the parts of a merge, once for each task and for each spill file. */
private[skew] final class MergeDistinctStart(
    isNumber: Boolean,
    keyFields: Int,
    ordinary: Seq[AggregateExpression],
    val columns: Seq[MergeColumnStart],
    val outputTypes: Array[DataType])
  extends Serializable {

  def newGroups(): Groups = new Groups(isNumber, keyFields, new MergeableAggregates(ordinary, Nil))
}

private[skew] final case class MergeColumnStart(
    functions: Seq[AggregateExpression],
    values: Seq[Attribute],
    isCount: Boolean,
    isNumber: Boolean) {

  def newMerge(groups: Groups, salt: Long): MergeColumn =
    if (isCount) new CountedColumn(isNumber, groups, salt, functions.size)
    else {
      val computed = new MergeableAggregates(functions, values)
      new ComputedColumn(isNumber, groups, salt, computed, values.size)
    }
}

package io.firesteel.skew

import io.firesteel.core.plans.CollectingExec
import io.firesteel.core.rows.KeyReader
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.execution.{PartitioningPreservingUnaryExecNode, SparkPlan}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/**
 * Emits for each group of a task the states of its aggregates; the state of a percentile is the
 * group's numbers. In generated code numbers are taken from variables of the operators below.
 *
 * Memory: 20 bytes for each number, and the groups, reserved from Spark's memory manager, up to
 * `spark.firesteel.skew.maxTaskMemory`. If Spark refuses, the operator sends everything it holds.
 *
 * @param values the column of each percentile
 */
case class PartialPercentilesExec(
    grouping: Seq[Attribute],
    ordinary: Seq[AggregateExpression],
    values: Seq[Attribute],
    override val output: Seq[Attribute],
    child: SparkPlan)
  extends PartitioningPreservingUnaryExecNode
  with CollectingExec {

  override def nodeName: String = "PartialPercentiles"

  override protected def outputExpressions: Seq[NamedExpression] = output

  override def producedAttributes: AttributeSet = AttributeSet(output.drop(grouping.size))

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numInputRows" -> SQLMetrics.createMetric(sparkContext, "number of input rows"),
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "peakMemory" -> SQLMetrics.createSizeMetric(sparkContext, "peak memory")
  )

  override protected def newStart(): PartialPercentilesStart =
    PartialPercentilesStart(
      grouping,
      ordinary,
      values,
      child.output,
      conf.getConf(SkewConf.MAX_TASK_MEMORY).getOrElse(Long.MaxValue),
      longMetric("numInputRows"),
      longMetric("numOutputRows"),
      longMetric("peakMemory")
    )

  override protected def doExecute(): RDD[InternalRow] = {
    // Local values: the closure must not contain the plan.
    val (start, input) = (newStart(), child.output)
    child.execute().mapPartitions(rows => start.of(KeyReader.unsafe(rows, input)))
  }

  override def supportCodegen: Boolean = UpdateCode.supports(ordinary)

  // Several rows, all in one object, may be sent before any is taken.
  override def needCopyResult: Boolean = true

  override def usedInputs: AttributeSet = child.outputSet

  override protected def collectorClass: Class[PartialPercentiles] = classOf[PartialPercentiles]

  @transient private var columns: Seq[String] = _

  override protected def declareParts(ctx: CodegenContext): Unit =
    columns = values.indices.map { i =>
      variable(ctx, classOf[GroupedNumbers], s"$collector.column($i)")
    }

  override def doConsume(ctx: CodegenContext, row: Seq[ExprCode], unused: ExprCode): String = {
    val (group, full) = (ctx.freshName("group"), ctx.freshName("full"))
    val groupCode = new GroupCode(grouping, ordinary, child.output, s"$collector.groups()")
    val (keyCode, groupOfKey) = groupCode.groupOf(ctx, row)
    val adds = values.zip(columns).map { case (value, column) =>
      val code = row(KeyReader.placeOf(value, child.output))
      val number = NumberCode.of(value.dataType).get.java(code.value.toString)
      s"if (!${code.isNull}) $full |= $column.add($group, $number);"
    }
    s"""
       |// The operator below may not have stopped for a row.
       |if ($collector.isBusy()) $send(true);
       |$keyCode
       |int $group = $groupOfKey;
       |${groupCode.updatesOf(ctx, row, group)}
       |boolean $full = false;
       |${adds.mkString("\n")}
       |$collector.ended($full);
       |if ($collector.isBusy()) $send(false);
     """.stripMargin
  }

  override def simpleString(maxFields: Int): String =
    s"$nodeName ${grouping.mkString("[", ", ", "]")}, " +
      s"numbers=${values.mkString("[", ", ", "]")}, functions=${ordinary.mkString("[", ", ", "]")}"

  override protected def withNewChildInternal(newChild: SparkPlan): PartialPercentilesExec =
    copy(child = newChild)
}

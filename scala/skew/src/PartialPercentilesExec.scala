package io.firesteel.skew

import io.firesteel.core.rows.KeyReader
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, CodeGenerator, ExprCode}
import org.apache.spark.sql.execution.{CodegenSupport, PartitioningPreservingUnaryExecNode, SparkPlan}
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
  with CodegenSupport {

  override def nodeName: String = "PartialPercentiles"

  override protected def outputExpressions: Seq[NamedExpression] = output

  override def producedAttributes: AttributeSet = AttributeSet(output.drop(grouping.size))

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numInputRows" -> SQLMetrics.createMetric(sparkContext, "number of input rows"),
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "peakMemory" -> SQLMetrics.createSizeMetric(sparkContext, "peak memory")
  )

  private def newStart(): PartialPercentilesStart =
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

  override def inputRDDs(): Seq[RDD[InternalRow]] = input.inputRDDs()

  private def input: CodegenSupport = child.asInstanceOf[CodegenSupport]

  @transient private var partial: String = _
  @transient private var send: String = _
  @transient private var columns: Seq[String] = _

  override protected def doProduce(ctx: CodegenContext): String = {
    val start = ctx.addReferenceObj("partialPercentilesStart", newStart())
    def state(javaType: String, name: String, value: String): String =
      ctx.addMutableState(javaType, name, v => s"$v = $value;", forceInline = true)
    partial = state(classOf[PartialPercentiles].getName, "partialPercentiles", s"$start.apply()")
    columns = values.indices.map { i =>
      state(classOf[GroupedNumbers].getName, "groupedNumbers", s"$partial.column($i)")
    }
    val isDone = ctx.addMutableState(CodeGenerator.JAVA_BOOLEAN, "partialPercentilesDone")
    send = newSend(ctx)
    s"""
       |$send(false);
       |if (shouldStop()) return;
       |if (!$isDone) {
       |  ${input.produce(ctx, this)}
       | // It may have stopped for a row inside a method of its own.
       |  if (shouldStop()) return;
       |  $isDone = true;
       |  $partial.finish();
       |  $send(false);
       |}
     """.stripMargin
  }

  /** A method that emits the rows that are ready: one, or all. */
  private def newSend(ctx: CodegenContext): String = {
    val (name, all, row) = (ctx.freshName("send"), ctx.freshName("all"), ctx.freshName("sent"))
    ctx.addNewFunction(
      name,
      s"""
         |private void $name(boolean $all) throws java.io.IOException {
         |  while (($all || !shouldStop()) && $partial.hasNext()) {
         |    UnsafeRow $row = (UnsafeRow) $partial.next();
         |    ${consume(ctx, null, row)}
         |  }
         |}
       """.stripMargin
    )
  }

  override def doConsume(ctx: CodegenContext, row: Seq[ExprCode], unused: ExprCode): String = {
    val (group, full) = (ctx.freshName("group"), ctx.freshName("full"))
    val groupCode = new GroupCode(grouping, ordinary, child.output, s"$partial.groups()")
    val (keyCode, groupOfKey) = groupCode.groupOf(ctx, row)
    val adds = values.zip(columns).map { case (value, column) =>
      val code = row(KeyReader.placeOf(value, child.output))
      val number = NumberCode.of(value.dataType).get.java(code.value.toString)
      s"if (!${code.isNull}) $full |= $column.add($group, $number);"
    }
    s"""
       |// The operator below may not have stopped for a row.
       |if ($partial.isBusy()) $send(true);
       |$keyCode
       |int $group = $groupOfKey;
       |${groupCode.updatesOf(ctx, row, group)}
       |boolean $full = false;
       |${adds.mkString("\n")}
       |$partial.ended($full);
       |if ($partial.isBusy()) $send(false);
     """.stripMargin
  }

  override def simpleString(maxFields: Int): String =
    s"$nodeName ${grouping.mkString("[", ", ", "]")}, " +
      s"numbers=${values.mkString("[", ", ", "]")}, functions=${ordinary.mkString("[", ", ", "]")}"

  override protected def withNewChildInternal(newChild: SparkPlan): PartialPercentilesExec =
    copy(child = newChild)
}

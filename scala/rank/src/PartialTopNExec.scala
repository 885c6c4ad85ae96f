package io.firesteel.rank

import io.firesteel.core.rows.{BuildsWantedRows, TaskMemoryBudget}
import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, BindReferences, Expression, SortOrder, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, CodeGenerator, ExprCode, GenerateUnsafeProjection}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{CodegenSupport, SparkPlan}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.firesteel.countPeakMemory
import org.apache.spark.sql.types.{ByteType, DataType, DateType, IntegerType, LongType, ShortType, TimestampNTZType, TimestampType}

/**
 * Keeps the first rows per key of each task, so that few rows are shuffled.
 *
 * Its output contains all rows that satisfy `bound`, and may contain more. [[TopNExec]] above the
 * exchange makes the answer exact.
 *
 * Generated code does not build a row that its prefix excludes. It reads only the key and order
 * columns of such a row from the child.
 *
 * Memory: the grants of Spark's memory manager. If it refuses, the operator emits the kept rows.
 */
case class PartialTopNExec(
    partitionBy: Seq[Expression],
    orderBy: Seq[SortOrder],
    bound: RankBound,
    child: SparkPlan)
  extends TopNNode
  with BuildsWantedRows {

  override def nodeName: String = "PartialTopN"

  override def reportsDecision: Boolean = false

  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] = if (sortedInput) child.outputOrdering else Nil

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numInputRows" -> SQLMetrics.createMetric(sparkContext, "number of input rows"),
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "numFlushedRows" ->
      SQLMetrics.createMetric(sparkContext, "rows emitted early for lack of memory"),
    "numTasksAside" -> SQLMetrics.createMetric(sparkContext, "tasks that pass rows through"),
    "peakMemory" -> SQLMetrics.createSizeMetric(sparkContext, "peak memory")
  )

  private lazy val limits = TopNLimits.of(conf)

  // Sorted input only needs counting, and that path has no generated code.
  override def supportCodegen: Boolean = !sortedInput

  override protected def doExecute(): RDD[InternalRow] = {
    val keys = this.keys
    val start = newStart()
    if (sortedInput) {
      val (in, out) = (longMetric("numInputRows"), longMetric("numOutputRows"))
      child.execute().mapPartitions { rows =>
        def numbered() = new NumberedSortedRows(
          rows.map { row => in += 1; row },
          keys.newKeyOf(),
          keys.newOrder(),
          keys.bound)
        new RankedRowIterator(() => numbered(), keys.input, Nil, out)
      }
    } else {
      child.execute().mapPartitions { rows =>
        new PartialTopNIterator(rows, start(), keys.newKeyOf(), keys.newPrefixOf())
      }
    }
  }

  /** The factory of a task's heaps. Generated code calls it too. */
  def newStart(): PartialTopNStart =
    PartialTopNStart(
      keys,
      limits,
      longMetric("numInputRows"),
      longMetric("numOutputRows"),
      longMetric("numFlushedRows"),
      longMetric("numTasksAside"),
      longMetric("peakMemory")
    )

  override def inputRDDs(): Seq[RDD[InternalRow]] = child.asInstanceOf[CodegenSupport].inputRDDs()

  // Read for every row. The other columns are read only for an admitted row.
  override def usedInputs: AttributeSet = AttributeSet(partitionBy ++ orderBy)

  @transient private var topN: String = _

  override protected def doProduce(ctx: CodegenContext): String = {
    val start = ctx.addReferenceObj("partialTopNStart", newStart())
    topN = ctx.addMutableState(
      classOf[PartialTopN].getName,
      "partialTopN",
      v => s"$v = $start.apply();",
      forceInline = true)
    val inputDone = ctx.addMutableState(CodeGenerator.JAVA_BOOLEAN, "partialTopNInputDone")
    val allDone = ctx.freshName("allDone")
    val row = ctx.freshName("kept")
    s"""
       |boolean $allDone = false;
       |while (!$allDone) {
       |  while ($topN.hasNext()) {
       |    UnsafeRow $row = $topN.next();
       |    ${consume(ctx, null, row)}
       |    if (shouldStop()) return;
       |  }
       |  if ($inputDone) {
       |    $allDone = true;
       |  } else {
       |    ${child.asInstanceOf[CodegenSupport].produce(ctx, this)}
       |    // A child may stop for lack of room and return only from its own method. The methods
       |    // that Union generates for its children do so.
       |    if (shouldStop()) return;
       |    $inputDone = true;
       |    $topN.finish();
       |  }
       |}
     """.stripMargin
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val prefixExpression = BindReferences.bindReference(keys.prefix.expression, child.output)
    ctx.INPUT_ROW = null
    ctx.currentVars = input
    val (keyCode, keyArguments) = binaryKey(ctx)
    ctx.currentVars = input
    val prefix = prefixExpression.genCode(ctx)
    val (wanted, out) = (ctx.freshName("wanted"), ctx.freshName("passed"))
    val (rowCode, rowValue) = wantedRow(ctx, child.output, input, row)
    s"""
       |boolean $wanted = true;
       |if ($topN.accepting()) {
       |  $keyCode
       |  ${prefix.code}
       |  $wanted = $topN.admits($keyArguments, ${prefix.value});
       |}
       |if ($wanted) {
       |  $rowCode
       |  UnsafeRow $out = $topN.take((UnsafeRow) $rowValue);
       |  if ($out != null) {
       |    ${consume(ctx, null, out)}
       |  }
       |}
     """.stripMargin
  }

  /**
   * Code of the key: a number if the key is one, a constant without keys, otherwise a binary row.
   */
  private def binaryKey(ctx: CodegenContext): (String, String) = {
    val bound = BindReferences.bindReferences(keys.binaryKeys, child.output)
    bound match {
      case Seq() => ("", "0L, false")
      case Seq(number) if PartialTopNExec.isWholeNumber(number.dataType) =>
        val code = number.genCode(ctx)
        (code.code.toString, s"(long) ${code.value}, ${code.isNull}")
      case several =>
        val code = GenerateUnsafeProjection.createCode(ctx, several)
        (code.code.toString, code.value.toString)
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PartialTopNExec =
    copy(child = newChild)
}

object PartialTopNExec {

  /** Types whose values are numbers of at most 64 bits and equal exactly if the numbers are. */
  private def isWholeNumber(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType | DateType | TimestampType |
        TimestampNTZType =>
      true
    case _ => false
  }
}

/** Makes the heaps of a task, and updates the metrics when the task ends. */
case class PartialTopNStart private[rank] (
    private[rank] val keys: TopNKeys,
    private[rank] val limits: TopNLimits,
    inputRows: SQLMetric,
    outputRows: SQLMetric,
    flushedRows: SQLMetric,
    tasksAside: SQLMetric,
    peakMemory: SQLMetric) {

  def apply(): PartialTopN = {
    val budget = TaskMemoryBudget.ofThisTask(limits.maxTaskMemory)
    val topN = new PartialTopN(keys.newHeaps(budget), limits.newVerdict())
    val task = TaskContext.get()
    task.addTaskCompletionListener[Unit] { _ =>
      inputRows += topN.inputRows
      outputRows += topN.outputRows
      flushedRows += topN.flushedRows
      if (topN.steppedAside) tasksAside += 1
      peakMemory += budget.peak
      countPeakMemory(task, budget.peak)
    }
    topN
  }
}

/** Runs [[PartialTopN]] without generated code. */
private[rank] final class PartialTopNIterator(
    input: Iterator[InternalRow],
    topN: PartialTopN,
    keyOf: UnsafeProjection,
    prefixOf: UnsafeProjection)
  extends Iterator[InternalRow] {

  private[this] var ready: UnsafeRow = _
  private[this] var inputDone = false

  override def hasNext: Boolean = {
    while (ready == null && !inputDone) {
      if (topN.hasNext) ready = topN.next()
      else if (input.hasNext) ready = offer(input.next().asInstanceOf[UnsafeRow])
      else {
        inputDone = true
        topN.finish()
      }
    }
    ready != null || topN.hasNext
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more rows")
    val row = if (ready != null) ready else topN.next()
    ready = null
    row
  }

  private def offer(row: UnsafeRow): UnsafeRow =
    if (!topN.accepting || topN.admits(keyOf(row), prefixOf(row).getLong(0))) topN.take(row)
    else null
}

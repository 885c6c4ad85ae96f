package io.firesteel.changelog.topn

import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.plan.{Places, PlanText}
import io.firesteel.core.rows.{BuildsWantedRows, KeyReader, OrderPrefix, RowCode}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, BindReferences, SortOrder}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, CodeGenerator, ExprCode}
import org.apache.spark.sql.execution.{CodegenSupport, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/**
 * The half of a Top-N below the exchange, for insert-only input: see [[PartialTopN]], and
 * [[PartialFirst]] for a Top-1.
 *
 * Generated code reads only the columns of the partition and of the order before it decides; it
 * does not build a row that is not kept.
 */
final private[changelog] case class PartialTopNExec(
    partition: Seq[Attribute],
    order: Seq[SortOrder],
    places: Places,
    rowKey: Seq[Attribute],
    child: SparkPlan)
  extends UnaryExecNode
  with BuildsWantedRows {

  override def nodeName: String = "PartialChangelogTopN"
  override def argString(maxFields: Int): String =
    s"${PlanText.columns(partition)}, ${PlanText.list(order.map(_.toString))}, $places"
  override def output: Seq[Attribute] = child.output

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  private def newStart(): PartialTopNStart =
    PartialTopNStart(
      partition,
      order,
      places,
      rowKey,
      child.output,
      conf.getConf(ChangelogConf.MAX_BUFFERED_ROWS),
      longMetric("numOutputRows"))

  override protected def doExecute(): RDD[InternalRow] = {
    val (start, input) = (newStart(), child.output)
    child.execute().mapPartitions(rows => start.of(KeyReader.unsafe(rows, input)))
  }

  override def supportCodegen: Boolean = !places.isFirst

  // Each emitted row is an object of its own.
  override def needCopyResult: Boolean = false

  override def usedInputs: AttributeSet = AttributeSet(partition ++ order)

  override def inputRDDs(): Seq[RDD[InternalRow]] = input.inputRDDs()

  private def input: CodegenSupport = child.asInstanceOf[CodegenSupport]

  @transient private var topN: String = _
  @transient private var send: String = _

  override protected def doProduce(ctx: CodegenContext): String = {
    val start = ctx.addReferenceObj("partialTopNStart", newStart())
    topN = ctx.addMutableState(
      classOf[PartialTopN].getName,
      "partialTopN",
      v => s"$v = $start.apply();",
      forceInline = true)
    val isDone = ctx.addMutableState(CodeGenerator.JAVA_BOOLEAN, "partialTopNDone")
    send = newSend(ctx)
    s"""
       |$send(false);
       |if (shouldStop()) return;
       |if (!$isDone) {
       |  ${input.produce(ctx, this)}
       |  // A method of the input may have returned early because a row is ready.
       |  if (shouldStop()) return;
       |  $isDone = true;
       |  $topN.finish();
       |  $send(false);
       |}
     """.stripMargin
  }

  /** A generated method that emits rows that are ready: while there is room, or all. */
  private def newSend(ctx: CodegenContext): String = {
    val (name, all, row) = (ctx.freshName("send"), ctx.freshName("all"), ctx.freshName("sent"))
    ctx.addNewFunction(
      name,
      s"""
         |private void $name(boolean $all) throws java.io.IOException {
         |  while (($all || !shouldStop()) && $topN.hasNext()) {
         |    UnsafeRow $row = (UnsafeRow) $topN.next();
         |    ${consume(ctx, null, row)}
         |  }
         |}
       """.stripMargin
    )
  }

  override def doConsume(ctx: CodegenContext, columns: Seq[ExprCode], row: ExprCode): String = {
    val first = BindReferences.bindReference(OrderPrefix.of(order).expression, child.output)
    ctx.INPUT_ROW = null
    ctx.currentVars = columns
    val prefix = first.genCode(ctx)
    val (keyCode, wants) = wanted(ctx, columns, prefix.value.toString)
    val (rowCode, built) = wantedRow(ctx, child.output, columns, row)
    s"""
       |${prefix.code}
       |$keyCode
       |if ($wants) {
       |  $rowCode
       |  $topN.take((UnsafeRow) $built);
       |  if ($topN.isFull()) {
       |    $topN.finish();
       |    $send(true);
       |  }
       |}
     """.stripMargin
  }

  /** Code, and an expression: whether the row may be among the first of its partition. */
  private def wanted(
      ctx: CodegenContext,
      columns: Seq[ExprCode],
      prefix: String): (String, String) = partition match {
    case Seq(key) if RowCode.isWord(key.dataType) =>
      val code = columns(KeyReader.placeOf(key, child.output))
      val word = RowCode.word(key.dataType, code)
      ("", s"${code.isNull} ? $topN.wantsOfNull($prefix) : $topN.wants($word, $prefix)")
    case keys =>
      val code = RowCode.binary(ctx, keys, child.output, columns)
      (code.code.toString, s"$topN.wants((UnsafeRow) ${code.value}, $prefix)")
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
    copy(child = newChild)
}

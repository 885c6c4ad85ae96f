package io.firesteel.changelog.topn

import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.plan.{Places, PlanText}
import io.firesteel.core.plans.CollectingExec
import io.firesteel.core.rows.{BuildsWantedRows, KeyReader, OrderPrefix, RowCode}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, BindReferences, SortOrder}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.firesteel.PartitionRows

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
  extends CollectingExec
  with BuildsWantedRows {

  override def nodeName: String = "PartialChangelogTopN"
  override def argString(maxFields: Int): String =
    s"${PlanText.columns(partition)}, ${PlanText.list(order.map(_.toString))}, $places"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected def newStart(): PartialTopNStart =
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
    PartitionRows.mapped(child.execute())(rows => start.of(KeyReader.unsafe(rows, input)))
  }

  override def supportCodegen: Boolean = !places.isFirst

  // Each emitted row is an object of its own.
  override def needCopyResult: Boolean = false

  override def usedInputs: AttributeSet = AttributeSet(partition ++ order)

  override protected def collectorClass: Class[PartialTopN] = classOf[PartialTopN]

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
       |  $collector.take((UnsafeRow) $built);
       |  if ($collector.isFull()) {
       |    $collector.finish();
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
      ("", s"${code.isNull} ? $collector.wantsOfNull($prefix) : $collector.wants($word, $prefix)")
    case keys =>
      val code = RowCode.binary(ctx, keys, child.output, columns)
      (code.code.toString, s"$collector.wants((UnsafeRow) ${code.value}, $prefix)")
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
    copy(child = newChild)
}

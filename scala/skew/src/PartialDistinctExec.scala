package io.firesteel.skew

import io.firesteel.core.plans.CollectingExec
import io.firesteel.core.rows.{KeyReader, RowCode}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, SinglePartition, UnknownPartitioning}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/**
 * Emits blocks of groups and their distinct values, each for a bucket.
 *
 * In generated code numbers are taken from variables of the operators below. A row with numbers
 * only is never created.
 *
 * Memory: reserved from Spark's memory manager, up to `spark.firesteel.skew.maxTaskMemory`. If
 * Spark refuses, the operator sends everything it holds. Values that wait for their block count, too:
 * two million at most; with over 512 buckets four million, with over 16,384 buckets 256 for each
 * bucket.
 *
 * @param added for each distinct column the value that a row adds, null for none
 * @param numbers for each distinct column whether a value is eight bytes
 * @param bucket the bucket of a block: equal values have the same
 * @param buckets number of buckets, if a hint gives one
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
  extends CollectingExec {

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
    "passedOn" -> SQLMetrics.createMetric(sparkContext, "values sent without deduplication"),
    "peakMemory" -> SQLMetrics.createSizeMetric(sparkContext, "peak memory")
  )

  override protected def newStart(): PartialDistinctStart =
    PartialDistinctStart(
      grouping,
      ordinary,
      added,
      numbers,
      child.output,
      Buckets.names(buckets.getOrElse(conf.numShufflePartitions)),
      conf.getConf(SkewConf.MAX_TASK_MEMORY).getOrElse(Long.MaxValue),
      conf.getConf(SkewConf.SAMPLE_VALUES),
      conf.getConf(SkewConf.MAX_NEW_VALUES),
      longMetric("numInputRows"),
      longMetric("numOutputRows"),
      longMetric("passedOn"),
      longMetric("peakMemory")
    )

  override protected def doExecute(): RDD[InternalRow] = {
    // Local values: the closure must not contain the plan.
    val (start, input) = (newStart(), child.output)
    child.execute().mapPartitions(rows => start.of(KeyReader.unsafe(rows, input)))
  }

  override def supportCodegen: Boolean = UpdateCode.supports(ordinary)

  // Several blocks, all in one row, may be sent before any is taken.
  override def needCopyResult: Boolean = true

  override def usedInputs: AttributeSet = child.outputSet

  override protected def collectorClass: Class[PartialDistinct] = classOf[PartialDistinct]

  @transient private var columns: Seq[String] = _

  override protected def declareParts(ctx: CodegenContext): Unit =
    columns = added.indices.map { i =>
      variable(ctx, classOf[PartialColumn], s"$collector.column($i)")
    }

  override def doConsume(ctx: CodegenContext, row: Seq[ExprCode], unused: ExprCode): String = {
    val (group, named, full) =
      (ctx.freshName("group"), ctx.freshName("named"), ctx.freshName("full"))
    val groupCode = new GroupCode(grouping, ordinary, child.output, s"$collector.groups()")
    val (keyCode, groupOfKey) = groupCode.groupOf(ctx, row)
    val (valuesCode, adds) = addsOf(ctx, row, group)
    s"""
       |// The operator below may not have stopped for a block.
       |if ($collector.isBusy()) $send(true);
       |$keyCode
       |int $group = $groupOfKey;
       |${groupCode.updatesOf(ctx, row, group)}
       |boolean $named = false;
       |boolean $full = false;
       |$valuesCode
       |${adds
        .map { case (present, add) => s"if ($present) { $named = true; $full |= $add; }" }
        .mkString("\n")}
       |$collector.ended($group, $named, $full);
       |if ($collector.isBusy()) $send(false);
     """.stripMargin
  }

  /**
   * Code, and for each column two expressions after it: whether the row has a value, and the call
   * that adds it.
   */
  private def addsOf(
      ctx: CodegenContext,
      row: Seq[ExprCode],
      group: String): (String, Seq[(String, String)]) = {
    val (words, others) = added.zip(columns).partition { case (value, _) =>
      RowCode.isWord(value.dataType)
    }
    val ofWords = words.map { case (value, column) =>
      val code = row(KeyReader.placeOf(value, child.output))
      (s"!${code.isNull}", s"$column.addNumber($group, ${RowCode.word(value.dataType, code)})")
    }
    if (others.isEmpty) ("", ofWords)
    else {
      val values = RowCode.binary(ctx, others.map(_._1), child.output, row)
      val ofOthers = others.zipWithIndex.map { case ((_, column), at) =>
        val value = s"(UnsafeRow) ${values.value}"
        (s"!${values.value}.isNullAt($at)", s"$column.add($group, $value, $at)")
      }
      (values.code.toString, ofWords ++ ofOthers)
    }
  }

  override def simpleString(maxFields: Int): String =
    s"$nodeName ${grouping.mkString("[", ", ", "]")}, " +
      s"distinct=${added.mkString("[", ", ", "]")}, functions=${ordinary.mkString("[", ", ", "]")}"

  override protected def withNewChildInternal(newChild: SparkPlan): PartialDistinctExec =
    copy(child = newChild)
}

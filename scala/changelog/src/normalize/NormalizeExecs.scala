package io.firesteel.changelog.normalize

import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.fold.{ArrivalOrder, BoundColumns, FoldLimits}
import io.firesteel.changelog.plan.PlanText
import io.firesteel.changelog.state.{ChangelogContract, StateLayout, StatefulTask, UnaryChangelogExec}
import io.firesteel.core.rows.{ColumnProjection, KeyReader}
import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, AttributeSet, Literal, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.firesteel.streaming.{StatefulOperatorCustomMetric, StatefulOperatorCustomSumMetric, StatefulOperatorStateInfo}
import org.apache.spark.sql.types.{BooleanType, ByteType, StructType}
import org.apache.spark.sql.firesteel.PartitionRows

/**
 * The half of a [[Normalize]] below the exchange: each key's newest row in a task.
 *
 * The columns of the child are `keys ++ columns ++ kind`, in this order. The number of the task's
 * partition is added after them: if rows of a key come from several partitions, a repeated
 * micro-batch takes the same row as the newest.
 */
final private[changelog] case class NewestRowsExec(
    keys: Seq[Attribute],
    sequence: Seq[Attribute],
    partition: Attribute,
    child: SparkPlan)
  extends UnaryExecNode {

  override def nodeName: String = "NewestRows"
  override def argString(maxFields: Int): String =
    PlanText.normalize(keys, sequence).mkString(", ")
  override def output: Seq[Attribute] = child.output :+ partition
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def producedAttributes: AttributeSet = AttributeSet(partition)

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected def doExecute(): RDD[InternalRow] = {
    val (limit, out) = (conf.getConf(ChangelogConf.MAX_BUFFERED_ROWS), longMetric("numOutputRows"))
    val (key, in, order) = (keys, child.output, NormalizeExecs.order(sequence, child.output))
    PartitionRows.mapped(child.execute()) { rows =>
      val toOutput = ColumnProjection(in :+ Literal(TaskContext.getPartitionId()), in)
      new NewestRows(
        KeyReader.unsafe(rows, in),
        FoldLimits.ofThisTask(limit),
        ColumnProjection(key, in),
        new ArrivalOrder(order),
        toOutput).map { row => out += 1; row }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
    copy(child = newChild)
}

/** Executes [[Normalize]] on the rows of [[NewestRowsExec]]. */
final private[changelog] case class ChangelogNormalizeExec(
    keys: Seq[Attribute],
    columns: Seq[Attribute],
    sequence: Seq[Attribute],
    unread: Seq[Attribute],
    plannedBy: String,
    contract: ChangelogContract,
    stateInfo: Option[StatefulOperatorStateInfo],
    child: SparkPlan)
  extends UnaryChangelogExec {

  override def shortName: String = "changelogNormalize"
  override def output: Seq[Attribute] = keys ++ columns ++ contract.kindOut
  override def producedAttributes: AttributeSet = AttributeSet(contract.kindOut)
  override def clusteredBy: Seq[Attribute] = keys

  override def layout: StateLayout = {
    val name = "normalize"
    val key = keys.zipWithIndex.map { case (k, i) =>
      StateLayout.field(name, s"key_$i", k.dataType)
    }
    val value = columns.zipWithIndex.map { case (c, i) =>
      // The columns that identify rows must be the same at a restart.
      val role = if (sequence.exists(_.exprId == c.exprId)) "sequence" else "column"
      StateLayout.field(name, s"${role}_$i", c.dataType)
    }
    val deleted = StateLayout.field(name, "deleted", BooleanType)
    StateLayout(name, StructType(key), StructType(value :+ deleted), prefix = 0)
  }

  override def firedMessage: String =
    "each key's newest row is kept in state, and its updates and deletions are emitted"

  override def firedValues: Map[String, String] = Map(
    "operator" -> "Normalize",
    "changelogMode" -> contract.mode,
    "keys" -> keys.map(_.name).mkString(", "),
    "sequence" -> (if (sequence.isEmpty) "arrival" else sequence.map(_.name).mkString(", ")),
    "state" -> stateText
  ) ++ shuffleText

  override def customStatefulOperatorMetrics: Seq[StatefulOperatorCustomMetric] =
    super.customStatefulOperatorMetrics :+ StatefulOperatorCustomSumMetric(
      NormalizeExecs.late,
      "number of dropped rows that are older than the newest row of their key")

  override def ownCounts: Seq[String] = Seq(NormalizeExecs.late)

  override def withState(
      info: Option[StatefulOperatorStateInfo],
      inputs: Seq[SparkPlan]): SparkPlan = copy(stateInfo = info, child = inputs.head)

  override protected def shown: Seq[String] = PlanText.normalize(keys, sequence)

  override protected def task(): StatefulTask = {
    val limit = conf.getConf(ChangelogConf.MAX_BUFFERED_ROWS)
    val (key, value, before) = (keys, columns, contract.updateBefore)
    val order = NormalizeExecs.order(sequence, columns)
    val (in, kind) = (child.output, Literal(0.toByte, ByteType))
    val (none, all) = (AttributeSet(unread), key ++ value)
    val shown = all.map(c => if (none.contains(c)) Literal(null, c.dataType) else c) :+ kind
    val late = longMetric(NormalizeExecs.late)
    StatefulTask.ofOne { (entries, _, rows) =>
      new FinalNormalize(
        rows,
        FoldLimits.ofThisTask(limit),
        keys = key.size,
        columns = value.size,
        toKey = ColumnProjection(key, in),
        toValue = ColumnProjection(value :+ Literal(false), in),
        toOutput = ColumnProjection(shown, all),
        new ArrivalOrder(order),
        before,
        entries,
        late
      )
    }
  }
}

private[normalize] object NormalizeExecs {

  val late = "numRowsOutOfSequence"

  /** The order of a sequence, bound to places in a row; null sorts first. */
  def order(sequence: Seq[Attribute], columns: Seq[Attribute]): Seq[SortOrder] =
    BoundColumns.order(sequence.map(SortOrder(_, Ascending)), columns)
}

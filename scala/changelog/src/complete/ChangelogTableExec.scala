package io.firesteel.changelog.complete

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.fold.FoldLimits
import io.firesteel.changelog.plan.PlanText
import io.firesteel.changelog.state.{ChangelogContract, StateLayout, StatefulTask, UnaryChangelogExec}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.firesteel.streaming.StatefulOperatorStateInfo
import org.apache.spark.sql.types.{DataType, LongType, StructType}

/**
 * Executes [[ChangelogTable]]: state keeps the whole result, and each micro-batch emits all of it.
 */
final private[changelog] case class ChangelogTableExec(
    columns: Seq[Attribute],
    plannedBy: String,
    contract: ChangelogContract,
    stateInfo: Option[StatefulOperatorStateInfo],
    child: SparkPlan)
  extends UnaryChangelogExec {

  override def shortName: String = "changelogTable"
  override def output: Seq[Attribute] = columns
  override def producedAttributes: AttributeSet = outputSet -- child.outputSet
  override def clusteredBy: Seq[Attribute] = columns

  override def layout: StateLayout = {
    def field(name: String, dataType: DataType) = StateLayout.field("table", name, dataType)
    val key = columns.zipWithIndex.map { case (c, i) => field(s"column_$i", c.dataType) }
    StateLayout("table", StructType(key), StructType(Seq(field("count", LongType))), prefix = 0)
  }

  override def firedMessage: String = "state keeps the whole result for complete mode"

  override def firedValues: Map[String, String] =
    Map("operator" -> "Table", "changelogMode" -> "the whole result")

  override def withState(
      info: Option[StatefulOperatorStateInfo],
      inputs: Seq[SparkPlan]): SparkPlan = copy(stateInfo = info, child = inputs.head)

  override protected def shown: Seq[String] = Seq(PlanText.columns(columns))

  override protected def task(): StatefulTask = {
    val limit = conf.getConf(ChangelogConf.MAX_BUFFERED_ROWS)
    val (width, in) = (columns.size, child.output)
    val (row, kindAt) = (columns, if (contract.kindIn.isEmpty) -1 else width)
    StatefulTask.ofOne { (entries, _, rows) =>
      new WholeTable(
        rows,
        FoldLimits.ofThisTask(limit),
        ColumnProjection(row, in),
        kindAt,
        entries)
    }
  }
}

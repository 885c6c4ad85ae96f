package io.firesteel.changelog.held

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.fold.FoldLimits
import io.firesteel.changelog.plan.PlanText
import io.firesteel.changelog.state.{ChangelogContract, StateEntries, StateLayout, StatefulTask, UnaryChangelogExec}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, BindReferences}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.firesteel.streaming.StatefulOperatorStateInfo

/** Executes [[io.firesteel.changelog.plan.HeldSessions]]; see [[SessionState]]. */
final private[changelog] case class HeldSessionsExec(
    keys: Seq[Attribute],
    columns: Seq[Attribute],
    time: Attribute,
    gap: Long,
    start: Attribute,
    end: Attribute,
    plannedBy: String,
    contract: ChangelogContract,
    stateInfo: Option[StatefulOperatorStateInfo],
    child: SparkPlan)
  extends UnaryChangelogExec {

  override def shortName: String = "changelogSessionRows"
  override def output: Seq[Attribute] = columns ++ Seq(start, end)
  override def producedAttributes: AttributeSet = AttributeSet(Seq(start, end))
  override def clusteredBy: Seq[Attribute] = keys
  override def emitsAtClose: Boolean = true
  override protected def shown: Seq[String] = Seq(PlanText.columns(keys), s"gap=${gap}us")
  override def layout: StateLayout = SessionState.layout(
    keys.map(_.dataType),
    columns.map(_.dataType),
    contract.keptCalls.columns.isEmpty || SessionState.isPacked(contract.keptCalls.columns))

  override def firedMessage: String =
    "rows are kept in state until the watermark closes their session, and then emitted together"

  override def firedValues: Map[String, String] = Map(
    "operator" -> "SessionRows",
    "changelogMode" -> contract.mode,
    "keys" -> keys.map(_.name).mkString(", "),
    "state" -> stateText
  ) ++ shuffleText

  override def withState(
      info: Option[StatefulOperatorStateInfo],
      inputs: Seq[SparkPlan]): SparkPlan = copy(stateInfo = info, child = inputs.head)

  override protected def task(): StatefulTask = {
    val (own, in, of, length) = (layout, child.output, keys, gap)
    val (version, kept) = (getStateInfo.storeVersion, columns)
    val limit = conf.getConf(ChangelogConf.MAX_BUFFERED_ROWS)
    val at = columns.indexWhere(_.exprId == time.exprId)
    val made = BindReferences.bindReferences(output, output)
    def state(entries: StateEntries) =
      new SessionState(entries, own, length, at, kept.size, version)
    StatefulTask.ofOne(
      (entries, _, rows) => {
        val (toKey, toRow) = (ColumnProjection(of, in), ColumnProjection(kept, in))
        state(entries).add(
          rows.map(row => (toKey(row), toRow(row))),
          FoldLimits.ofThisTask(limit))
        Iterator.empty
      },
      (entries, closed) =>
        state(entries).closing(closed.watermarkMs * 1000, ColumnProjection(made))
    )
  }
}

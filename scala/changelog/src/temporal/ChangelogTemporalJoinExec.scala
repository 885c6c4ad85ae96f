package io.firesteel.changelog.temporal

import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.fold.{ArrivedRows, BoundColumns, FoldLimits}
import io.firesteel.changelog.plan.{JoinOutput, PlanText}
import io.firesteel.changelog.state.{ChangelogContract, ClosedGroups, InputDistribution, StateEntries, StateLayout, StatefulChangelogExec, StatefulTask}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.execution.{BinaryExecNode, SparkPlan}
import org.apache.spark.sql.firesteel.streaming.StatefulOperatorStateInfo

/** Executes [[io.firesteel.changelog.plan.TemporalJoin]]; see [[TemporalState]]. */
final private[changelog] case class ChangelogTemporalJoinExec(
    joinType: JoinType,
    leftKeys: Seq[Attribute],
    rightKeys: Seq[Attribute],
    leftTime: Attribute,
    rightTime: Attribute,
    order: Seq[SortOrder],
    deleted: Option[Attribute],
    condition: Option[Expression],
    leftColumns: Seq[Attribute],
    rightColumns: Seq[Attribute],
    plannedBy: String,
    contract: ChangelogContract,
    stateInfo: Option[StatefulOperatorStateInfo],
    left: SparkPlan,
    right: SparkPlan)
  extends BinaryExecNode
  with StatefulChangelogExec {

  override def shortName: String = "changelogTemporalJoin"
  override def output: Seq[Attribute] = JoinOutput(joinType, leftColumns, rightColumns)
  override def emitsAtClose: Boolean = true
  override def distributions: Seq[InputDistribution] =
    Seq(InputDistribution.Clustered(leftKeys), InputDistribution.Clustered(rightKeys))
  override protected def keepsPlacesOf: Seq[Int] = Seq(0)

  override def layout: StateLayout =
    TemporalState.layout(leftKeys.map(_.dataType), leftColumns.map(_.dataType))

  override protected def shown: Seq[String] =
    PlanText.join(joinType, leftKeys.zip(rightKeys), condition) :+
      s"${leftTime.name} at ${rightTime.name}"

  override def firedMessage: String =
    "left rows wait until the watermark has reached their time, and then take the version of their " +
      "key that was valid at it"

  override def firedValues: Map[String, String] = Map(
    "operator" -> "TEMPORAL JOIN",
    "changelogMode" -> contract.mode,
    "keys" -> leftKeys.zip(
      rightKeys).map { case (l, r) => s"${l.name} = ${r.name}" }.mkString(", "),
    "versions" -> order.map(_.sql).mkString(", "),
    "state" -> stateText
  ) ++ shuffleText

  override def withState(
      info: Option[StatefulOperatorStateInfo],
      inputs: Seq[SparkPlan]): SparkPlan =
    copy(stateInfo = info, left = inputs.head, right = inputs.last)

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan): SparkPlan = withProbed(Seq(newLeft, newRight))

  override protected def task(): StatefulTask = new TemporalTask(
    layout,
    TemporalSpec(
      joinType,
      leftKeys,
      rightKeys,
      leftColumns.map(_.withNullability(true)),
      rightColumns.map(_.withNullability(true)),
      leftColumns.indexWhere(_.exprId == leftTime.exprId),
      rightColumns.indexWhere(_.exprId == rightTime.exprId),
      BoundColumns.order(order, rightColumns),
      deleted.fold(-1)(c => rightColumns.indexWhere(_.exprId == c.exprId)),
      condition
    ),
    Seq(left.output, right.output),
    contract.kindsIn.head.fold(-1)(kind => left.output.indexWhere(_.exprId == kind.exprId)),
    getStateInfo.storeVersion,
    if (contract.watermark.lateMs <= 0) Long.MinValue
    else contract.watermark.lateMs * 1000 - contract.watermark.after,
    conf.getConf(ChangelogConf.MAX_BUFFERED_ROWS)
  )
}

/**
 * The work in one partition.
 *
 * @param kindAt the place of the kind in a left row; -1 if these only come
 * @param passed the time that no left row can come before, in microseconds
 * @param limit versions, or left rows, that are held in memory at once
 */
final private[temporal] class TemporalTask(
    layout: StateLayout,
    spec: TemporalSpec,
    inputs: Seq[Seq[Attribute]],
    kindAt: Int,
    version: Long,
    passed: Long,
    limit: Int)
  extends StatefulTask {

  override def run(
      entries: StateEntries,
      partition: Int,
      rows: Seq[Iterator[InternalRow]]): Iterator[InternalRow] = {
    val state = new TemporalState(entries, layout, spec)
    val limits = FoldLimits.ofThisTask(limit)
    state.addVersions(rows.last, inputs.last, passed, limits)
    val names = new ArrivedRows(version)
    if (kindAt < 0) state.hold(rows.head, inputs.head, names)
    else {
      state.holdChanges(rows.head, inputs.head, kindAt, names, limits)
      Iterator.empty
    }
  }

  override def close(entries: StateEntries, closed: ClosedGroups): Iterator[InternalRow] =
    new TemporalState(entries, layout, spec).joined(closed.watermarkMs * 1000 - closed.after)
}

package io.firesteel.changelog.join

import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.fold.FoldLimits
import io.firesteel.changelog.plan.{JoinOutput, JoinedSide, PlanText}
import io.firesteel.changelog.state.{ChangelogContract, ClosedGroups, InputDistribution, Slots, StateEntries, StateLayout, StatefulChangelogExec, StatefulTask}
import io.firesteel.changelog.state.inputs.ReadOnceExec
import io.firesteel.core.rows.KeyIndex
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.{FullOuter, Inner, JoinType}
import org.apache.spark.sql.execution.{BinaryExecNode, SparkPlan}
import org.apache.spark.sql.firesteel.streaming.StatefulOperatorStateInfo

/**
 * Executes [[io.firesteel.changelog.plan.StreamJoin]]. State keeps the rows of both sides in one
 * store, several to an entry ([[PackedLayout]]). With a time to live, and in checkpoints that began
 * so, each row has an entry ([[RowEntries]]).
 */
final private[changelog] case class ChangelogJoinExec(
    joinType: JoinType,
    leftSide: JoinedSide,
    rightSide: JoinedSide,
    condition: Option[Expression],
    pairedBy: Option[Seq[Attribute]],
    unread: Seq[Attribute],
    isInSlots: Boolean,
    isSnapshot: Boolean,
    below: Option[SpecBelow],
    plannedBy: String,
    contract: ChangelogContract,
    stateInfo: Option[StatefulOperatorStateInfo],
    left: SparkPlan,
    right: SparkPlan)
  extends BinaryExecNode
  with StatefulChangelogExec {

  private def sides = Seq(leftSide, rightSide)

  override def shortName: String = "changelogJoin"

  override def output: Seq[Attribute] =
    JoinOutput(joinType, leftSide.columns, rightSide.columns) ++ contract.kindOut
  override def producedAttributes: AttributeSet = AttributeSet(contract.kindOut)

  override def distributions: Seq[InputDistribution] =
    sides.map(side => InputDistribution.Clustered(side.keys))

  /** A row without a match has nulls for the keys of the other side. */
  override protected def keepsPlacesOf: Seq[Int] = joinType match {
    case Inner => Seq(0, 1)
    case FullOuter => Nil
    case _ => Seq(0)
  }

  /** Rows of the result are older than the watermark by as much as a row waits for its last match. */
  override def heldBack(inputWatermarkMs: Long): Long = {
    val waits = sides.flatMap(_.bound).flatMap(_.reach).maxOption.getOrElse(0L).max(0L)
    (inputWatermarkMs - (waits + 999) / 1000).max(0L)
  }

  // Each side tells its own.
  override protected def closedText: Option[String] = None

  /** A checkpoint keeps its layout: the columns of its store say which one it has. */
  private def isPacked: Boolean = {
    val columns = contract.keptCalls.columns
    if (columns.isEmpty) contract.ttl.isEmpty else PackedLayout.isOf(columns)
  }

  private def spec: JoinSpec = JoinSpec(
    joinType,
    leftSide,
    rightSide,
    condition,
    pairedBy,
    unread,
    isInSlots && Slots.areIn(contract.keptCalls),
    isSnapshot,
    contract.updateBefore,
    below)

  override def layout: StateLayout =
    if (isPacked) PackedLayout.of(spec) else RowEntries.layout(spec)

  override def firedMessage: String =
    if (isSnapshot)
      "state keeps the rows of the right side, and each left row meets those of its micro-batch"
    else if (below.nonEmpty)
      "state keeps the rows of the right side; those of the left side are joined again by the join below"
    else
      "state keeps the rows of both sides, and a change of one side emits the changes of its matches"

  override def firedValues: Map[String, String] = Map(
    "operator" -> s"${JoinOutput.name(joinType)} JOIN",
    "changelogMode" -> contract.mode,
    "keys" -> leftSide.keys.zip(rightSide.keys)
      .map { case (l, r) => s"${l.name} = ${r.name}" }.mkString(", "),
    "left" -> below.fold(JoinRows.text(leftSide, isTable(left)))(_ => RejoinedRows.text),
    "right" -> JoinRows.text(rightSide, isTable(right)),
    "updateBefore" -> sides.zip(Seq("left", "right")).zip(contract.kindsIn)
      .map { case ((side, name), kind) => s"$name: ${JoinRows.updateBefore(side, kind.isEmpty)}" }
      .mkString("; "),
    "state" -> stateText
  ) ++ shuffleText

  /** Whether a side is a table, by itself or below Spark's own operators. */
  private def isTable(side: SparkPlan): Boolean = side match {
    case _: ReadOnceExec => true
    case _: StatefulChangelogExec => false
    case other => other.children.exists(isTable)
  }

  override def withState(
      info: Option[StatefulOperatorStateInfo],
      inputs: Seq[SparkPlan]): SparkPlan =
    copy(stateInfo = info, left = inputs.head, right = inputs.last)

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan): SparkPlan = withProbed(Seq(newLeft, newRight))

  override protected def shown: Seq[String] =
    PlanText.join(joinType, leftSide.keys.zip(rightSide.keys), condition) ++
      Option.when(isSnapshot)("snapshot")

  override protected def task(): StatefulTask = new JoinTask(
    spec,
    Option.unless(isPacked)(layout),
    Seq(left.output, right.output),
    contract.kindsIn,
    evicts = contract.watermark.ms > contract.watermark.lateMs,
    conf.getConf(ChangelogConf.MAX_BUFFERED_ROWS)
  )
}

/**
 * The work of a join in one partition.
 *
 * @param ofRows the layout of a store with an entry for each row
 * @param evicts whether the watermark has advanced since the micro-batch before
 */
final private[join] class JoinTask(
    spec: JoinSpec,
    ofRows: Option[StateLayout],
    inputs: Seq[Seq[Attribute]],
    kinds: Seq[Option[Attribute]],
    evicts: Boolean,
    mostRows: Int)
  extends StatefulTask {

  override def run(
      entries: StateEntries,
      partition: Int,
      rows: Seq[Iterator[InternalRow]]): Iterator[InternalRow] = {
    def input(side: JoinedSide, number: Int) = {
      val columns = inputs(number)
      val kindAt = kinds(number).fold(-1)(kind => columns.indexWhere(_.exprId == kind.exprId))
      new JoinInput(side, columns, kindAt)
    }
    new JoinChanges(
      new TwoInputs(rows.head, rows.last, rightFirst = spec.isSnapshot),
      FoldLimits.ofThisTask(mostRows),
      Seq(input(spec.left, 0), input(spec.right, 1)),
      new KeyIndex(KeyIndex.isNumber(spec.left.keys), spec.left.keys.size),
      ofRows.fold[JoinState](new PackedState(entries, spec))(new RowState(entries, _, spec)),
      new JoinedRows(spec),
      spec.isSnapshot,
      spec.below.map(new RejoinedRows(entries, _))
    )
  }

  /** Emits nothing: what the evicted rows gave stays in the result. */
  override def close(entries: StateEntries, closed: ClosedGroups): Iterator[InternalRow] = {
    if (evicts)
      new EvictRows(entries, spec, kinds.map(_.nonEmpty), closed.watermarkMs * 1000).run()
    Iterator.empty
  }
}

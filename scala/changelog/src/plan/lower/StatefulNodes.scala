package io.firesteel.changelog.plan.lower

import io.firesteel.changelog.plan.{JoinBelow, JoinOutput, JoinedSide, Places, PlanText}
import io.firesteel.changelog.plan.frames.{OverCall, OverFrameKind, Panes}
import io.firesteel.changelog.state.ChangelogContract
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet, Expression, ExpressionSet, SortOrder}
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.catalyst.plans.logical.{BinaryNode, LogicalPlan, Statistics, UnaryNode}
import org.apache.spark.sql.firesteel.StatefulLogicalPlan
import org.apache.spark.sql.types.ByteType

/**
 * A logical operator of a changelog, with a column of kinds.
 *
 * Its result is not derived from the input of one micro-batch, so Spark must infer nothing about it
 * from the input.
 */
private[changelog] trait ChangelogNode extends LogicalPlan {
  override lazy val validConstraints: ExpressionSet = ExpressionSet()
  override def producedAttributes: AttributeSet =
    outputSet -- AttributeSet(children.flatMap(_.output))
  override def maxRows: Option[Long] = None
}

/** An operator with state. */
private[changelog] trait StatefulNode extends ChangelogNode with StatefulLogicalPlan {
  def contract: ChangelogContract

  def withContract(change: ChangelogContract => ChangelogContract): LogicalPlan =
    mapExpressions { case its: ChangelogContract => change(its); case other => other }

  /** The parts of its line in a plan, in order. */
  protected def shown: Seq[String]

  final override def argString(maxFields: Int): String =
    (shown :+ s"changelogMode=$contract").mkString(", ")
}

private[changelog] object ChangelogNode {

  /** A new column of kinds. */
  def newKind(): AttributeReference =
    AttributeReference("row_kind", ByteType, nullable = false)()
}

/**
 * See [[GroupAggregate]].
 *
 * @param functions calls over positions in `arguments`, not over columns. The optimizer may find
 *   two columns equal in one micro-batch and not in another, and the state must not depend on that.
 * @param isGlobal whether the keys are a constant and the only group always exists
 * @param once the key whose groups are emitted once, when the watermark closes them
 * @param panes the windows, if the last key is a pane
 * @param closedBy the result by which the watermark closes groups
 * @param gap the gap of sessions in microseconds, if the last key is their start, and `closedBy`
 *   their end
 */
final private[changelog] case class ChangelogAggregate(
    keys: Seq[Attribute],
    arguments: Seq[Attribute],
    functions: Seq[Expression],
    distinct: Seq[Boolean],
    results: Seq[Attribute],
    isGlobal: Boolean,
    once: Option[Attribute],
    panes: Option[Panes],
    closedBy: Option[Attribute],
    gap: Option[Long],
    contract: ChangelogContract,
    child: LogicalPlan)
  extends UnaryNode
  with StatefulNode {
  def calls: Seq[String] = PlanText.calls(functions, distinct, arguments)
  override protected def shown: Seq[String] =
    Seq(PlanText.columns(keys), PlanText.list(calls)) ++ panes.map(its => s"windows=$its") ++
      gap.map(its => s"gap=${its}us") ++ Option.when(once.nonEmpty || gap.nonEmpty)("once")
  override def output: Seq[Attribute] =
    panes.fold(keys ++ results)(_.output(keys, results)) ++ contract.kindOut
  override protected def withNewChildInternal(newChild: LogicalPlan): ChangelogAggregate =
    copy(child = newChild)
}

/**
 * See [[TopN]]. It reads exactly `partition ++ columns ++ kindIn` of the child.
 *
 * @param rowKey the upsert key of the rows, if a row replaces the row with the same key
 */
final private[changelog] case class ChangelogTopN(
    partition: Seq[Attribute],
    columns: Seq[Attribute],
    order: Seq[SortOrder],
    places: Places,
    rank: Option[Attribute],
    strategy: String,
    rowKey: Seq[Attribute],
    contract: ChangelogContract,
    child: LogicalPlan)
  extends UnaryNode
  with StatefulNode {

  /** Whether the rows wait until the watermark closes their window, and are then emitted. */
  def isOnce: Boolean = contract.kindOut.isEmpty

  override protected def shown: Seq[String] =
    PlanText.topN(partition, order, places, strategy, rowKey) ++ Option.when(isOnce)("once")
  override def output: Seq[Attribute] = partition ++ columns ++ rank ++ contract.kindOut
  override protected def withNewChildInternal(newChild: LogicalPlan): ChangelogTopN =
    copy(child = newChild)
}

/**
 * See [[OverAggregate]]. It reads exactly `partition ++ columns ++ kindIn` of the child.
 *
 * @param calls functions over places in `partition ++ columns`, as those of [[ChangelogAggregate]]
 * @param results of the calls, and perhaps the number of a row among equal ones
 * @param frames over the same places
 * @param ties the columns whose bytes order rows that tie, before all others; empty if all do
 * @param numberedBy the column whose numbers order rows that tie by these, too
 * @param closesSessions given if the event time of `contract` is the end of a row's own session, and
 *   whether sessions stay for a gap after their end
 */
final private[changelog] case class ChangelogOverAggregate(
    partition: Seq[Attribute],
    columns: Seq[Attribute],
    order: Seq[SortOrder],
    calls: Seq[OverCall],
    results: Seq[Attribute],
    frames: OverFrameKind,
    ties: Seq[Attribute],
    numberedBy: Option[Attribute],
    pairedBy: Option[Seq[Attribute]],
    closesSessions: Option[Boolean],
    contract: ChangelogContract,
    child: LogicalPlan)
  extends UnaryNode
  with StatefulNode {
  override protected def shown: Seq[String] =
    PlanText.over(partition, order, calls, frames, partition ++ columns)
  override def output: Seq[Attribute] = partition ++ columns ++ results ++ contract.kindOut
  override protected def withNewChildInternal(newChild: LogicalPlan): ChangelogOverAggregate =
    copy(child = newChild)
}

/**
 * See [[io.firesteel.changelog.plan.StreamJoin]]. Each child has exactly the columns of its side:
 * `columns ++ keys that are no columns ++ kindIn`.
 *
 * @param pairedBy the key by which rows that go and come are updates: empty if the result is one row,
 *   none if they are not updates
 * @param unread columns of the result that nothing above reads. They are null: a change of them alone
 *   is no change.
 * @param isInSlots whether the only key is one of the [[io.firesteel.changelog.state.Slots]]
 */
final private[changelog] case class ChangelogJoin(
    joinType: JoinType,
    leftSide: JoinedSide,
    rightSide: JoinedSide,
    condition: Option[Expression],
    pairedBy: Option[Seq[Attribute]],
    unread: Seq[Attribute],
    isInSlots: Boolean,
    isSnapshot: Boolean,
    below: Option[JoinBelow],
    contract: ChangelogContract,
    left: LogicalPlan,
    right: LogicalPlan)
  extends BinaryNode
  with StatefulNode {
  override protected def shown: Seq[String] =
    PlanText.join(joinType, leftSide.keys.zip(rightSide.keys), condition) ++
      Option.when(isSnapshot)("snapshot")
  override def output: Seq[Attribute] =
    JoinOutput(joinType, leftSide.columns, rightSide.columns) ++ contract.kindOut
  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan): ChangelogJoin = copy(left = newLeft, right = newRight)
}

/**
 * See [[Normalize]]. The child has exactly the columns `keys ++ columns ++ kindIn`.
 *
 * @param unread columns of the result that nothing above reads, as those of [[ChangelogJoin]]
 */
final private[changelog] case class ChangelogNormalize(
    keys: Seq[Attribute],
    columns: Seq[Attribute],
    sequence: Seq[Attribute],
    unread: Seq[Attribute],
    contract: ChangelogContract,
    child: LogicalPlan)
  extends UnaryNode
  with StatefulNode {
  override protected def shown: Seq[String] = PlanText.normalize(keys, sequence)
  override def output: Seq[Attribute] = keys ++ columns ++ contract.kindOut
  override protected def withNewChildInternal(newChild: LogicalPlan): ChangelogNormalize =
    copy(child = newChild)
}

/** The whole result at every micro-batch, for complete mode. */
final private[changelog] case class ChangelogTable(
    columns: Seq[Attribute],
    contract: ChangelogContract,
    child: LogicalPlan)
  extends UnaryNode
  with StatefulNode {
  override protected def shown: Seq[String] = Seq(PlanText.columns(columns))
  override def output: Seq[Attribute] = columns
  override protected def withNewChildInternal(newChild: LogicalPlan): ChangelogTable =
    copy(child = newChild)
}

/**
 * Rows whose column `passes` is true. If one side of an update passes alone, it becomes an insert
 * or a deletion.
 */
final private[changelog] case class ChangelogFilter(
    passes: Attribute,
    kind: Attribute,
    kindOut: Attribute,
    child: LogicalPlan)
  extends UnaryNode
  with ChangelogNode {
  override def argString(maxFields: Int): String = passes.toString
  override def output: Seq[Attribute] =
    child.output.map(column => if (column.exprId == kind.exprId) kindOut else column)
  override protected def withNewChildInternal(newChild: LogicalPlan): ChangelogFilter =
    copy(child = newChild)
}

/** A table that is no stream, whose rows are kept in the state of the operator above. */
final private[changelog] case class ReadOnce(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  // Its rows come in micro-batches, too: Spark refuses a union of a stream and a table.
  override def isStreaming: Boolean = true
  override lazy val validConstraints: ExpressionSet = ExpressionSet()
  override def maxRows: Option[Long] = None
  override protected def withNewChildInternal(newChild: LogicalPlan): ReadOnce =
    copy(child = newChild)
}

/** Numbers the rows of each task. Spark refuses its own function for that on a stream. */
final private[changelog] case class ChangelogNumbers(number: Attribute, child: LogicalPlan)
  extends UnaryNode {
  override def argString(maxFields: Int): String = number.toString
  override def output: Seq[Attribute] = child.output :+ number
  override def producedAttributes: AttributeSet = AttributeSet(number)
  override protected def withNewChildInternal(newChild: LogicalPlan): ChangelogNumbers =
    copy(child = newChild)
}

/**
 * The matches of each row of a left outer join, as one array. The join emits one row for each
 * match, and the rows of one left row follow each other.
 *
 * @param number the number of the left row
 * @param isThere a column of the right side that is null if there is no match
 * @param element the match, an expression over the right side
 */
final private[changelog] case class ChangelogMatches(
    columns: Seq[Attribute],
    number: Attribute,
    isThere: Attribute,
    element: Expression,
    matches: Attribute,
    child: LogicalPlan)
  extends UnaryNode {
  override def argString(maxFields: Int): String = matches.toString
  override def output: Seq[Attribute] = columns :+ matches
  override def producedAttributes: AttributeSet = AttributeSet(matches)
  override lazy val validConstraints: ExpressionSet = ExpressionSet()
  override def maxRows: Option[Long] = None
  override protected def withNewChildInternal(newChild: LogicalPlan): ChangelogMatches =
    copy(child = newChild)
}

/**
 * See [[io.firesteel.changelog.plan.HeldRows]].
 *
 * @param columns what state keeps of a row, whatever the optimizer knows of the plan above
 */
final private[changelog] case class ChangelogHeldRows(
    by: Seq[Attribute],
    columns: Seq[Attribute],
    contract: ChangelogContract,
    child: LogicalPlan)
  extends UnaryNode
  with StatefulNode {
  override protected def shown: Seq[String] = Seq(PlanText.columns(by))
  override def output: Seq[Attribute] = columns
  override protected def withNewChildInternal(newChild: LogicalPlan): ChangelogHeldRows =
    copy(child = newChild)
}

/** See [[io.firesteel.changelog.plan.HeldSessions]]. */
final private[changelog] case class ChangelogHeldSessions(
    keys: Seq[Attribute],
    columns: Seq[Attribute],
    time: Attribute,
    gap: Long,
    start: Attribute,
    end: Attribute,
    contract: ChangelogContract,
    child: LogicalPlan)
  extends UnaryNode
  with StatefulNode {
  override protected def shown: Seq[String] = Seq(PlanText.columns(keys), s"gap=${gap}us")
  override def output: Seq[Attribute] = columns ++ Seq(start, end)
  override protected def withNewChildInternal(newChild: LogicalPlan): ChangelogHeldSessions =
    copy(child = newChild)
}

/** See [[io.firesteel.changelog.plan.TemporalJoin]]. */
final private[changelog] case class ChangelogTemporalJoin(
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
    contract: ChangelogContract,
    left: LogicalPlan,
    right: LogicalPlan)
  extends BinaryNode
  with StatefulNode {
  override protected def shown: Seq[String] =
    PlanText.join(joinType, leftKeys.zip(rightKeys), condition) :+
      s"${leftTime.name} at ${rightTime.name}"
  override def output: Seq[Attribute] = JoinOutput(joinType, leftColumns, rightColumns)
  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan): ChangelogTemporalJoin = copy(left = newLeft, right = newRight)
}

/**
 * Rows that come in one micro-batch and have nothing to do with those of another, as Spark's
 * operators for batch read them. Their number is not known before they come, so a join must not
 * broadcast them for their size.
 */
final private[changelog] case class BatchRows(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override def isStreaming: Boolean = false
  override lazy val validConstraints: ExpressionSet = ExpressionSet()
  override def maxRows: Option[Long] = None
  override def stats: Statistics = Statistics(sizeInBytes = conf.defaultSizeInBytes)
  override protected def withNewChildInternal(newChild: LogicalPlan): BatchRows =
    copy(child = newChild)
}

/**
 * The rows of a micro-batch for a function that reads them as it likes, also twice in one task. It
 * does not tell how the rows lie: a shuffle between two readings keeps them in tasks of their own, so
 * that a task computes no operator twice.
 */
final private[changelog] case class SinkRows(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(newChild: LogicalPlan): SinkRows =
    copy(child = newChild)
}

/** What Spark's operators for batch have made of [[BatchRows]], as rows of a stream again. */
final private[changelog] case class StreamRows(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override def isStreaming: Boolean = true
  override lazy val validConstraints: ExpressionSet = ExpressionSet()
  override def maxRows: Option[Long] = None
  override protected def withNewChildInternal(newChild: LogicalPlan): StreamRows =
    copy(child = newChild)
}

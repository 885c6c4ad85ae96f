package io.firesteel.changelog.aggregate

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.fold.FoldLimits
import io.firesteel.changelog.plan.PlanText
import io.firesteel.changelog.plan.frames.Panes
import io.firesteel.changelog.state.{ChangelogContract, ClosedGroups, GuestExec, MemberRecord, StateLayout, StatefulTask, UnaryChangelogExec, Watermark, WholeKey}
import io.firesteel.core.windows.PaneWindows
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet, BindReferences, BoundReference, Expression, Literal}
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.firesteel.streaming.StatefulOperatorStateInfo
import org.apache.spark.sql.types.ByteType
import org.apache.spark.sql.firesteel.PartitionRows

/**
 * The half of an aggregate below the exchange: the partial result that the rows of a task add to
 * each group's state.
 *
 * The columns of the child are `keys ++ arguments ++ kindIn`, in this order.
 *
 * Memory: [[ChangelogConf.MAX_BUFFERED_ROWS]] groups and values; at that limit it emits its partial
 * results and continues.
 *
 * @param same for each argument the number of its value, see [[PartialValues]]
 * @param sessions if the groups are sessions: the number of the call that is their end, and the
 *   watermark by which rows are late
 */
final private[changelog] case class PartialAggregateExec(
    keys: Seq[Attribute],
    arguments: Seq[Attribute],
    same: Seq[Int],
    functions: Seq[Expression],
    distinct: Seq[Boolean],
    kindIn: Option[Attribute],
    panes: Option[PaneWindows],
    sessions: Option[(Int, Watermark)],
    delta: Seq[Attribute],
    child: SparkPlan)
  extends UnaryExecNode {

  override def nodeName: String = "PartialChangelogAggregate"
  override def argString(maxFields: Int): String =
    s"${PlanText.columns(keys)}, ${PlanText.list(PlanText.calls(functions, distinct, arguments))}"
  override def output: Seq[Attribute] = delta
  override def producedAttributes: AttributeSet = outputSet -- child.outputSet
  override def outputPartitioning: Partitioning = child.outputPartitioning

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected def doExecute(): RDD[InternalRow] = {
    val layout =
      AggregateExecs.layout(keys, functions, distinct, kindIn, panes, sessions.nonEmpty)
    val kindAt = if (kindIn.isEmpty) -1 else keys.size + arguments.size
    val (limit, out) = (conf.getConf(ChangelogConf.MAX_BUFFERED_ROWS), longMetric("numOutputRows"))
    val values = same // a task has no operator
    val ends = sessions.map { case (call, watermark) =>
      val column = functions(call).collectFirst { case place: BoundReference => place.ordinal }.get
      (keys.size + column, AggregateExecs.lateUntil(watermark))
    }
    // Buffers of Spark's functions, which may grow, cost much to merge.
    val isNeighbour =
      layout.sets.isEmpty && !layout.hasMerged && GuestExec.below(child).nonEmpty
    PartitionRows.mapped(child.execute()) { rows =>
      val limits = FoldLimits.ofThisTask(limit)
      def partial =
        if (isNeighbour) new AdjacentPartial(rows, layout, kindAt)
        else new PartialAggregate(rows, limits, layout, values, kindAt)
      ends.fold[Iterator[InternalRow]](partial) {
        case (endAt, late) => new PartialSessions(rows, limits, layout, endAt, late)
      }.map { row =>
        out += 1; row
      }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
    copy(child = newChild)
}

/**
 * Executes [[GroupAggregate]] on the partial results of [[PartialAggregateExec]].
 *
 * @param once whether a group is emitted once, when the watermark closes it
 * @param panes the windows, if the last key is a pane
 * @param closedBy the result by which the watermark closes groups; their state goes, and nothing is
 *   emitted if they are not sessions
 * @param gap the gap of sessions in microseconds, if the last key is their start and `closedBy` their
 *   end: those that touch become one, and each is emitted once, when it closes
 */
final private[changelog] case class ChangelogAggregateExec(
    keys: Seq[Attribute],
    functions: Seq[Expression],
    distinct: Seq[Boolean],
    results: Seq[Attribute],
    isGlobal: Boolean,
    once: Boolean,
    panes: Option[Panes],
    closedBy: Option[Attribute],
    gap: Option[Long],
    calls: Seq[String],
    plannedBy: String,
    contract: ChangelogContract,
    stateInfo: Option[StatefulOperatorStateInfo],
    child: SparkPlan)
  extends UnaryChangelogExec {

  override def shortName: String = "changelogAggregate"
  override def output: Seq[Attribute] =
    panes.fold(keys ++ results)(_.output(keys, results)) ++ contract.kindOut
  override def producedAttributes: AttributeSet = outputSet -- child.outputSet
  // Arguments are read below the exchange; only partial results arrive here.
  @transient override lazy val references: AttributeSet = AttributeSet(keys)
  // A window needs several panes of a key, and a row may join sessions.
  override def clusteredBy: Seq[Attribute] = if (panes.isEmpty && gap.isEmpty) keys else keys.init

  /** The layout of the checkpoint's store, once the driver has read which calls wrote it. */
  private def aggregateLayout: AggregateLayout = {
    val kept = contract.keptCalls
    new AggregateLayout(
      keys,
      functions,
      distinct,
      contract.kindIn.nonEmpty,
      isGlobal,
      kept.columnsOf(contract.member.calls.map(_.text)),
      kept.columns,
      panes.map(its => PaneStore(its.windows, RangeStore.scans(conf)))
        .orElse(gap.map(_ => SessionStore(RangeStore.scans(conf))))
    )
  }

  override def member: MemberRecord = {
    val recorded = contract.member.calls
    // Unnamed functions of a user have one text; then calls are found by their places.
    val named = functions.map(_.canonicalized).zip(recorded).distinct.size ==
      recorded.map(_.text).distinct.size
    if (!named) contract.member
    else {
      val columns = aggregateLayout.columnsOfCalls
      contract.member.copy(calls =
        recorded.zip(columns).map { case (call, its) => call.copy(columns = its) })
    }
  }

  override def layout: StateLayout = aggregateLayout.state

  override protected def shown: Seq[String] =
    Seq(PlanText.columns(keys), PlanText.list(calls)) ++ panes.map(its => s"windows=$its") ++
      gap.map(its => s"gap=${its}us") ++ Option.when(once || gap.nonEmpty)("once")

  override def emitsAtClose: Boolean = once || gap.nonEmpty || panes.exists(_.atClose)
  override protected def alwaysPlaced: Boolean = once

  override def firedMessage: String =
    if (panes.exists(!_.atClose)) {
      "panes are kept in state, each row in one of them; each micro-batch emits the changes of the " +
        "windows whose panes have changed"
    } else if (panes.nonEmpty) {
      "panes are kept in state, each row in one of them; the watermark closes windows, which are " +
        "emitted once, each from the one before and the panes that entered and left"
    } else if (gap.nonEmpty) {
      "a group is kept in state for each session, and sessions that touch become one; they are " +
        "emitted once, when the watermark closes them"
    } else if (once) "groups are kept in state, and emitted once, when the watermark closes them"
    else "groups are kept in state, and each micro-batch emits the changes of their results"

  override def firedValues: Map[String, String] = Map(
    "operator" -> "Aggregate",
    "changelogMode" -> contract.mode,
    "keys" -> keys.map(_.name).mkString(", "),
    "state" -> stateText
  ) ++ panes.map(its => "windows" -> its.toString) ++ shuffleText

  override def withState(
      info: Option[StatefulOperatorStateInfo],
      inputs: Seq[SparkPlan]): SparkPlan = copy(stateInfo = info, child = inputs.head)

  override protected def task(): StatefulTask =
    if (gap.nonEmpty) ofSessions else panes.fold(ofGroups)(ofPanes)

  private def ofSessions: StatefulTask = {
    val layout = aggregateLayout
    val limit = conf.getConf(ChangelogConf.MAX_BUFFERED_ROWS)
    val (expressions, inputs) = AggregateExecs.resultColumns(keys, functions)
    val end = results.indexWhere(result => closedBy.exists(_.exprId == result.exprId))
    val lateUntil = AggregateExecs.lateUntil(contract.watermark)
    val late = longMetric("numRowsDroppedByWatermark")
    StatefulTask.ofOne(
      (entries, _, rows) =>
        new SessionFold(
          rows,
          FoldLimits.ofThisTask(limit),
          layout,
          end,
          lateUntil,
          late,
          entries),
      (entries, closed) => {
        val made = new GroupResults(layout, ColumnProjection(expressions, inputs))
        new ClosingSessions(layout, made, entries).rows(closed.watermarkMs * 1000)
      }
    )
  }

  private def ofPanes(panes: Panes): StatefulTask = {
    val (layout, watermark) = (aggregateLayout, contract.watermark)
    val limit = conf.getConf(ChangelogConf.MAX_BUFFERED_ROWS)
    val (expressions, inputs) = AggregateExecs.windowColumns(keys, panes, functions)
    def results() = new GroupResults(layout, ColumnProjection(expressions, inputs))
    val (windows, before) = (panes.windows, contract.updateBefore)
    val late = longMetric("numRowsDroppedByWatermark")
    // The micro-batch before this one is known, or the first one of a run asks the store.
    val ended = math.max(watermark.lateMs, watermark.closedMs)
    val endedAt = Option.when(panes.isMarked && ended > 0)(ended * 1000)
    val isFirst = watermark.closedMs == 0L
    val (partitions, scans) = (getStateInfo.numPartitions, RangeStore.scans(conf))
    val fold: StatefulTask.OfOneInput = (entries, _, rows) =>
      new ExpectedPanes(
        rows,
        FoldLimits.ofThisTask(limit),
        layout,
        windows,
        endedAt,
        isFirst,
        partitions,
        late,
        entries)
    val change: StatefulTask.OfOneInput = (entries, _, rows) =>
      new ChangedPanes(
        rows,
        FoldLimits.ofThisTask(limit),
        layout,
        windows,
        results(),
        before,
        endedAt,
        late,
        entries)
    // Most micro-batches of long windows close none, and both read the whole store.
    def closing(closed: ClosedGroups)(
        rows: Long => Iterator[InternalRow]): Iterator[InternalRow] = {
      val endAt = closed.watermarkMs * 1000
      val isDone = endedAt.exists(windows.lastEndedAt(_) >= windows.lastEndedAt(endAt))
      if (isDone && !isFirst) Iterator.empty else rows(endAt)
    }
    val leave: StatefulTask.AtClose = (entries, closed) =>
      closing(closed) { endAt =>
        val open = windows.firstOpenPane(endAt)
        // The pane is the last of the keys, after the number of the set.
        entries.removeAll(key => key.getLong(layout.numKeys) < open)
        Iterator.empty
      }
    val close: StatefulTask.AtClose = (entries, closed) =>
      closing(closed) {
        new ClosingWindows(
          layout,
          PaneStore(windows, scans),
          results(),
          endedAt,
          isFirst,
          _,
          partitions,
          entries)
      }
    if (panes.atClose) StatefulTask.ofOne(fold, close) else StatefulTask.ofOne(change, leave)
  }

  private def ofGroups: StatefulTask = {
    val (layout, before) = (aggregateLayout, contract.updateBefore)
    val limit = conf.getConf(ChangelogConf.MAX_BUFFERED_ROWS)
    val (expressions, inputs) = AggregateExecs.resultColumns(keys, functions)
    val home = if (isGlobal) Some(WholeKey.homeOf(getStateInfo.numPartitions)) else None
    val isOnce = once
    // A group that is emitted when another key closes is emitted then, and leaves.
    val endAt =
      if (once) None else closedBy.map(end => results.indexWhere(_.exprId == end.exprId))
    def newResults() = new GroupResults(layout, ColumnProjection(expressions, inputs))
    val atClose: StatefulTask.AtClose = (entries, closed) =>
      endAt.fold(newResults().closing(entries, closed)) { at =>
        new ClosedResults(layout, at).evict(entries, closed)
        Iterator.empty
      }
    val changes: StatefulTask.OfOneInput = (entries, place, rows) => {
      val whole = home.filter(_ == place).map(_ => WholeKey.row())
      new FinalAggregate(
        rows,
        FoldLimits.ofThisTask(limit),
        layout,
        newResults(),
        before,
        whole,
        isOnce,
        entries)
    }
    if (once || closedBy.nonEmpty) StatefulTask.ofOne(changes, atClose)
    else StatefulTask.ofOne(changes)
  }
}

private[changelog] object AggregateExecs {

  def layout(
      keys: Seq[Attribute],
      functions: Seq[Expression],
      distinct: Seq[Boolean],
      kindIn: Option[Attribute],
      panes: Option[PaneWindows],
      ofSessions: Boolean): AggregateLayout =
    new AggregateLayout(
      keys,
      functions,
      distinct,
      kindIn.nonEmpty,
      isGlobal = false,
      ranges = panes.map(PaneStore(_, scansBounds = false))
        .orElse(Option.when(ofSessions)(SessionStore(scansBounds = false)))
    )

  /** Sessions that end at this time or before it are late; in microseconds. */
  def lateUntil(watermark: Watermark): Long =
    if (watermark.lateMs > 0) watermark.lateMs * 1000 else Long.MinValue

  /** The columns between the halves: those of the store's key and value. */
  def delta(keys: Seq[Attribute], layout: AggregateLayout): Seq[Attribute] =
    keys ++ (layout.setColumns ++ layout.state.value).map { field =>
      AttributeReference(field.name, field.dataType, nullable = true)()
    }

  /** The result row from keys and buffers; the row kind, its last column, is set in place. */
  def resultColumns(
      keys: Seq[Attribute],
      functions: Seq[Expression]): (Seq[Expression], Seq[Attribute]) = {
    val (results, buffers) = evaluated(functions)
    val inputs = keys ++ buffers
    (BindReferences.bindReferences(keys ++ results :+ kind, inputs), inputs)
  }

  /** The same of a window, whose bounds follow the keys, of which one is a pane. */
  def windowColumns(
      keys: Seq[Attribute],
      panes: Panes,
      functions: Seq[Expression]): (Seq[Expression], Seq[Attribute]) = {
    val (results, buffers) = evaluated(functions)
    val inputs = keys ++ panes.bounds ++ buffers
    val columns = keys.init ++ results ++ panes.bounds :+ kind
    (BindReferences.bindReferences(columns, inputs), inputs)
  }

  private val kind = Literal(0.toByte, ByteType)

  /** The results of functions, and the columns of buffers that they read. */
  private def evaluated(functions: Seq[Expression]): (Seq[Expression], Seq[Attribute]) = {
    val results = functions.map {
      case function: DeclarativeAggregate =>
        (function.aggBufferAttributes, function.evaluateExpression)
      case any =>
        val made = AttributeReference(any.prettyName, any.dataType, any.nullable)()
        (Seq(made), made)
    }
    (results.map(_._2), results.flatMap(_._1))
  }
}

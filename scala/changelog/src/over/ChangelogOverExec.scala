package io.firesteel.changelog.over

import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.fold.{BoundColumns, FoldLimits}
import io.firesteel.changelog.plan.PlanText
import io.firesteel.changelog.plan.frames.{OverCall, OverFrameKind}
import io.firesteel.changelog.state.{ChangelogContract, StateEntries, StateLayout, StatefulTask, UnaryChangelogExec}
import io.firesteel.core.rows.{ColumnProjection, MergeableAggregates}

import java.util.{Arrays, Comparator}

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, AttributeSet, BoundReference, Expression, NamedExpression, SortOrder, UnsafeRow, WindowExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction, Complete}
import org.apache.spark.sql.catalyst.expressions.codegen.LazilyGeneratedOrdering
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.firesteel.windowEvaluator
import org.apache.spark.sql.firesteel.streaming.StatefulOperatorStateInfo
import org.apache.spark.sql.types.IntegerType

/**
 * Executes [[io.firesteel.changelog.plan.OverAggregate]]. The columns of the child are `partition ++
 * columns ++ kindIn`, in this order.
 *
 * @param calls functions over places in `partition ++ columns`
 * @param ties the columns whose bytes order rows that tie, before all others; empty if all do
 * @param numberedBy the column whose numbers order rows that tie by these, too
 * @param closesSessions whether the watermark closes sessions, see [[ClosedSessions]]; and whether
 *   they stay for a gap
 */
final private[changelog] case class ChangelogOverExec(
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
    plannedBy: String,
    contract: ChangelogContract,
    stateInfo: Option[StatefulOperatorStateInfo],
    child: SparkPlan)
  extends UnaryChangelogExec {

  override def shortName: String = "changelogOverAggregate"
  override def output: Seq[Attribute] = partition ++ columns ++ results ++ contract.kindOut
  override def producedAttributes: AttributeSet = outputSet -- child.outputSet
  override def clusteredBy: Seq[Attribute] = partition
  override def layout: StateLayout = OverState.layout(partition.map(_.dataType))

  override protected def shown: Seq[String] =
    PlanText.over(partition, order, calls, frames, partition ++ columns)

  override def firedMessage: String =
    "the rows of each partition are kept in state in their order, and each micro-batch emits the " +
      "rows whose results have changed"

  override def firedValues: Map[String, String] = Map(
    "operator" -> "OverAggregate",
    "changelogMode" -> contract.mode,
    "partition" -> partition.map(_.name).mkString(", "),
    "order" -> order.map(_.sql).mkString(", "),
    "functions" -> PlanText.overCalls(calls, partition ++ columns).mkString(", "),
    "frames" -> frames.text,
    "state" -> stateText
  ) ++ shuffleText

  override def withState(
      info: Option[StatefulOperatorStateInfo],
      inputs: Seq[SparkPlan]): SparkPlan = copy(stateInfo = info, child = inputs.head)

  override protected def task(): StatefulTask = {
    // The optimizer may know that a column has no nulls in this micro-batch; state may have some.
    val row = (partition ++ columns).map(_.withNullability(true))
    val (own, before) = (layout, contract.updateBefore)
    val limit = conf.getConf(ChangelogConf.MAX_BUFFERED_ROWS)
    val kindAt = if (contract.kindIn.isEmpty) -1 else row.size
    val windows = calls.zip(results).map { case (call, result) =>
      call.toWindow(result, order, row)
    }
    val (sortBy, orderBy) = (BoundColumns.order(order, row), order)
    val (of, rowOf) = (BoundColumns.of(partition, row), BoundColumns.of(row, row))
    val made = row ++ results.map(_.withNullability(true))
    val key = pairedBy.map(BoundColumns.of(_, made))
    val kind = contract.kindOut.toSeq
    val tied = Option.when(ties.nonEmpty)(BoundColumns.of(ties, row))
    val number = numberedBy.map(its => row.indexWhere(_.exprId == its.exprId))
    val (found, values) = (frames, results)
    def state(entries: StateEntries) =
      new OverState(entries, own, row.size, ChangelogOverExec.buffers(found, windows))
    val changes: StatefulTask.OfOneInput = (entries, _, rows) =>
      new OverIterator(
        rows,
        FoldLimits.ofThisTask(limit),
        kindAt,
        ColumnProjection(of),
        ColumnProjection(rowOf),
        ChangelogOverExec.total(sortBy, tied, number),
        found match {
          case OverFrameKind.Running(byPeers) =>
            ChangelogOverExec.running(windows, values, byPeers, sortBy, row)
          case OverFrameKind.Around(back, ahead) =>
            new OverStrategy.Frames(
              new OverFrames(sortBy, back, ahead),
              ChangelogOverExec.evaluated(windows, values, orderBy, row, entries))
        },
        new OverChanges(
          key.map(ColumnProjection(_)),
          before,
          ColumnProjection(made ++ kind, made ++ kind)),
        state(entries)
      )
    closesSessions.fold(StatefulTask.ofOne(changes)) { stays =>
      // Of the session's own start and end the function is made.
      val places = calls.head.arguments.collect { case place: BoundReference => place.ordinal }
      val (startAt, endAt) = (places.head, places.last)
      val advances = contract.watermark.ms > contract.watermark.lateMs
      StatefulTask.ofOne(
        changes,
        (entries, closed) => {
          if (advances) {
            val until = closed.watermarkMs * 1000
            new ClosedSessions(state(entries), startAt, endAt, stays, until).evict()
          }
          Iterator.empty
        }
      )
    }
  }
}

private[changelog] object ChangelogOverExec {

  /** Spark's own evaluation of windows, over rows with the number of their window partition. */
  private def evaluated(
      windows: Seq[NamedExpression],
      results: Seq[Attribute],
      order: Seq[SortOrder],
      row: Seq[Attribute],
      entries: StateEntries): OverResults = {
    val number = AttributeReference("partition_number", IntegerType, nullable = false)()
    val fed = row :+ number
    new OverResults(
      windowEvaluator(windows, Seq(number), order, fed),
      ColumnProjection(fed, fed),
      ColumnProjection(row ++ results, fed ++ results),
      numbersCopies = results.size > windows.size,
      () => entries.readBeforeClosing()
    )
  }

  private def running(
      windows: Seq[NamedExpression],
      results: Seq[Attribute],
      byPeers: Boolean,
      order: Seq[SortOrder],
      row: Seq[Attribute]): OverStrategy = {
    val ordering = new LazilyGeneratedOrdering(order)
    new OverStrategy.Running(new OverRunning(
      new MergeableAggregates(aggregates(windows), row),
      byPeers,
      (a, b) => ordering.compare(a, b) == 0,
      ColumnProjection(results.map(_.dataType).toArray),
      ColumnProjection(row ++ results, row ++ results)
    ))
  }

  /** Number of columns of the buffers that state keeps. */
  private def buffers(frames: OverFrameKind, windows: Seq[NamedExpression]): Int = frames match {
    case _: OverFrameKind.Running =>
      aggregates(windows).map(_.aggregateFunction.aggBufferAttributes.size).sum
    case _: OverFrameKind.Around => 0
  }

  private def aggregates(windows: Seq[NamedExpression]): Seq[AggregateExpression] = windows.map {
    case Alias(WindowExpression(call: AggregateExpression, _), _) => call
    case Alias(WindowExpression(function: AggregateFunction, _), _) =>
      AggregateExpression(function, Complete, isDistinct = false)
    case other => throw new IllegalStateException(s"no aggregate function: $other")
  }

  /**
   * The order, with ties in the order of their bytes: it then depends on the state only, and is the
   * same before and after a restart. Where results of the window's other functions are among the
   * columns, the other columns' bytes come first, so that all functions see one order.
   */
  private def total(
      order: Seq[SortOrder],
      ties: Option[Seq[Expression]],
      number: Option[Int]): Comparator[UnsafeRow] = {
    val ordering = new LazilyGeneratedOrdering(order)
    val tied =
      ties.map(columns => (ColumnProjection(columns), ColumnProjection(columns)))
    def bytes(a: UnsafeRow, b: UnsafeRow) = Arrays.compareUnsigned(a.getBytes, b.getBytes)
    (a, b) => {
      val byOrder = ordering.compare(a, b)
      if (byOrder != 0) byOrder
      else {
        val byTies = tied.fold(0) { case (one, other) => bytes(one(a), other(b)) }
        val byNumber =
          if (byTies != 0) byTies
          else number.fold(0)(i => java.lang.Long.compare(a.getLong(i), b.getLong(i)))
        if (byNumber != 0) byNumber else bytes(a, b)
      }
    }
  }
}

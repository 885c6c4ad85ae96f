package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.plan.{ChangelogOperator, OverAggregate}
import io.firesteel.changelog.plan.frames.SessionStart
import io.firesteel.changelog.state.PlanVersion

import org.apache.spark.sql.catalyst.expressions.{Alias, Ascending, Attribute, BinaryExpression, CreateNamedStruct, CurrentRow, ExprId, Expression, GetStructField, Literal, NamedExpression, RowFrame, SessionWindow, SortOrder, SpecifiedWindowFrame, UnboundedPreceding, WindowExpression, WindowSpecDefinition}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Max}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Project, Union, Window}
import org.apache.spark.sql.types.CalendarIntervalType
import org.apache.spark.unsafe.types.CalendarInterval

/**
 * `GROUP BY session_window(ts, gap)`. Spark's analyzer writes each row's own session; sessions merge
 * as rows come. So each row gets the start of its session from the rows before it, as a function
 * with OVER, and the groups are those of the start, with the last end. A row that joins two sessions
 * changes the start of the rows behind it, which leave one group and come to the other.
 */
private[parse] object SessionGroups {

  /** The key that is a session of one row, if there is one. */
  def of(keys: Seq[Expression]): Option[Attribute] = keys.collectFirst {
    case column: Attribute if column.metadata.contains(SessionWindow.marker) => column
  }

  /**
   * The aggregate by the starts of sessions.
   *
   * @param input the rows with the start of their session
   * @param closedBy the session's end, if the watermark closes the groups
   * @param closedAfter how long after that end they close, in microseconds
   */
  final case class Grouped(
      aggregate: Aggregate,
      input: ChangelogOperator,
      closedBy: Option[AggregateExpression] = None,
      closedAfter: Long = 0L)

  /** @param version the version of the plan, by which the watermark may close sessions */
  def apply(
      aggregate: Aggregate,
      session: Attribute,
      input: ChangelogOperator,
      ttlMs: Long,
      version: Int): Grouped = {
    val keys = aggregate.groupingExpressions.filterNot(_.semanticEquals(session))
    val (from, to) = (GetStructField(session, 0), GetStructField(session, 1))
    val order = Seq(SortOrder(from, Ascending))
    val running = SpecifiedWindowFrame(RowFrame, UnboundedPreceding, CurrentRow)
    val call = WindowExpression(
      SessionStart(from, to).toAggregateExpression(),
      WindowSpecDefinition(keys, order, running))
    val named = Alias(call, "session_start")()
    val window = Window(Seq(named), keys, order, aggregate.child)
    val isTimed = version >= PlanVersion.closedRows && input.facts.changes.insertOnly &&
      input.facts.eventTimes.contains(session.exprId)
    // Rows that begin later than a gap before the watermark are not late.
    val gap = gapOf(session, aggregate.child).filter(_ => version >= PlanVersion.stayingSessions)
    val over = OverWindow(window, Seq(named.toAttribute -> call)).operator(input, ttlMs)
    val rows = closing(over, isTimed, gap.nonEmpty)
    val start = named.toAttribute
    val end = Max(to).toAggregateExpression()
    val whole = CreateNamedStruct(Seq(Literal("start"), start, Literal("end"), end))
    def shown(value: Expression): Expression = value.transformUp {
      case its: Attribute if its.semanticEquals(session) => whole
      case field: GetStructField if field.child eq whole => whole.valExprs(field.ordinal)
    }
    val columns = aggregate.aggregateExpressions.map[NamedExpression] {
      case column: Attribute if column.semanticEquals(session) =>
        Alias(whole, column.name)(column.exprId)
      case column => shown(column).asInstanceOf[NamedExpression]
    }
    Grouped(
      Aggregate(start +: keys, columns, aggregate.child),
      rows,
      Option.when(version >= PlanVersion.closedSessions && leavesState(rows))(end),
      gap.getOrElse(0L))
  }

  /** Whether the rows of closed sessions leave state. */
  private def leavesState(rows: ChangelogOperator): Boolean = rows match {
    case over: OverAggregate => over.sessionEnd.nonEmpty
    case _ => false
  }

  /** The watermark closes sessions by their ends, which the starts are computed from. */
  private def closing(
      rows: ChangelogOperator,
      isTimed: Boolean,
      stays: Boolean): ChangelogOperator = rows match {
    case over: OverAggregate if isTimed && over.ttlMs == 0L =>
      val end = over.calls.head.arguments.lastOption.collect { case end: Attribute => end }
      over.copy(sessionEnd = end, sessionStays = stays)
    case other => other
  }

  /** The gap in microseconds, if it is the same for all rows: a day may be shorter than another. */
  private def gapOf(session: Attribute, rows: LogicalPlan): Option[Long] =
    for {
      made <- madeAs(session.exprId, rows)
      end <- made.collectFirst { case both: CreateNamedStruct => both.valExprs.last }
      gap <- end.collectFirst {
        case sum: BinaryExpression if sum.right.dataType == CalendarIntervalType => sum.right
      }
      if gap.foldable
      micros <- Option(gap.eval()).collect {
        case its: CalendarInterval if its.months == 0 && its.days == 0 => its.microseconds
      }
    } yield micros

  /** What a column is computed by, below projections that give it another name. */
  private def madeAs(id: ExprId, rows: LogicalPlan): Option[Expression] = rows match {
    case Project(columns, child) => columns.find(_.exprId == id).flatMap {
        case Alias(its: Attribute, _) => madeAs(its.exprId, child)
        case its: Attribute => madeAs(its.exprId, child)
        case made => Some(made)
      }
    case _: Union => None // its inputs may have other gaps
    case other => other.children.find(_.output.exists(_.exprId == id)).flatMap(madeAs(id, _))
  }
}

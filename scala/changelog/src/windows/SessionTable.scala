package io.firesteel.changelog.windows

import io.firesteel.changelog.windows.WindowAssigner.Session

import org.apache.spark.sql.catalyst.expressions.{Add, Alias, Ascending, Attribute, CurrentRow, Expression, GreaterThan, If, IsNotNull, Literal, RowFrame, SortOrder, SpecifiedWindowFrame, Subtract, UnboundedFollowing, UnboundedPreceding, WindowExpression, WindowSpecDefinition}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateFunction, Count, Max, Min}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, Window}
import org.apache.spark.sql.types.{IntegerType, LongType}

/**
 * The result of `SESSION`. In batch these are window functions: a session begins at a row that is
 * further than the gap from the row before it. A row exactly at the end of a session belongs to it,
 * as in Spark's `session_window` and in Flink.
 */
private[changelog] object SessionTable {

  /**
   * What a stream must do.
   *
   * @param keys what the rows of a session have in common
   * @param column the column of time, and `time` its microseconds, which `rows` has as well
   * @param start the session's first time, in microseconds
   * @param end the session's last time and the gap, in microseconds
   * @param named the projection above that makes the window's columns
   */
  final case class Parts(
      gap: Long,
      keys: Seq[Expression],
      column: Attribute,
      time: Attribute,
      start: Attribute,
      end: Attribute,
      rows: LogicalPlan,
      named: Project)

  def apply(
      session: Session,
      time: Attribute,
      keys: Seq[Expression],
      child: LogicalPlan): LogicalPlan = {
    val rows = Filter(IsNotNull(time), child)
    val micros = Alias(WindowTable.toMicros(time), "session_micros")()
    val at = micros.toAttribute
    val inOrder = Seq(SortOrder(at, Ascending))
    val last =
      over(Max(at), keys, inOrder, SpecifiedWindowFrame(RowFrame, UnboundedPreceding, Literal(-1)))
    val sinceLast = Window(Seq(last), keys, inOrder, Project(child.output :+ micros, rows))
    val begins = If(
      GreaterThan(Subtract(at, last.toAttribute), Literal(session.gap)),
      Literal(1),
      Literal(null, IntegerType))
    val number =
      over(
        Count(Seq(begins)),
        keys,
        inOrder,
        SpecifiedWindowFrame(RowFrame, UnboundedPreceding, CurrentRow))
    val numbered = Window(Seq(number), keys, inOrder, sinceLast)
    val one = keys :+ number.toAttribute
    val all = SpecifiedWindowFrame(RowFrame, UnboundedPreceding, UnboundedFollowing)
    val (start, latest) = (over(Min(at), one, Nil, all), over(Max(at), one, Nil, all))
    val bounds = Window(Seq(start, latest), one, Nil, numbered)
    val end = Alias(
      Add(latest.toAttribute, Literal(session.gap)),
      "session_end")()
    WindowTable.named(
      time,
      child.output,
      start.toAttribute,
      end.toAttribute,
      Project(child.output ++ Seq(start.toAttribute, end), bounds))
  }

  /** The parts of a session table, as [[apply]] writes it. */
  def unapply(plan: Project): Option[Parts] = plan.child match {
    case Project(columns, bounds: Window) if WindowTable.unapply(plan).nonEmpty =>
      for {
        numbered <- windowBelow(bounds)
        sinceLast <- windowBelow(numbered)
        rows <- Some(sinceLast.child).collect { case project: Project => project }
        time <- sinceLast.orderSpec.headOption.map(_.child).collect { case at: Attribute => at }
        column <- rows.projectList.last.references.headOption
        gap <- columns.collectFirst {
          case Alias(add: Add, "session_end") => add.right
        }.collect { case Literal(gap: Long, LongType) => gap }
      } yield Parts(
        gap,
        sinceLast.partitionSpec,
        column,
        time,
        columns(columns.size - 2).toAttribute,
        columns.last.toAttribute,
        rows,
        plan)
    case _ => None
  }

  private def windowBelow(window: Window): Option[Window] =
    Some(window.child).collect { case below: Window => below }

  private def over(
      function: AggregateFunction,
      keys: Seq[Expression],
      order: Seq[SortOrder],
      frame: SpecifiedWindowFrame): Alias =
    Alias(
      WindowExpression(function.toAggregateExpression(), WindowSpecDefinition(keys, order, frame)),
      s"session_${function.prettyName}")()
}

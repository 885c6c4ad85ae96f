package io.firesteel.changelog.plan

import io.firesteel.core.windows.WindowOfBounds

import org.apache.spark.sql.catalyst.expressions.{Add, Alias, Attribute, CreateNamedStruct, ExprId, Expression, GetStructField, Literal, UnaryExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Expand, LogicalPlan, Project, Union}

/**
 * A column of event time, or of windows of it. The watermark closes its values.
 *
 * @param size the length of a window in microseconds, if known: it gives the end for a start
 * @param after microseconds between the column's value and the time when the watermark closes it
 * @param mayBeLate whether late rows may still arrive. This is so for a source; the first operator
 *   above it drops them.
 * @param moves whether an update may take a row from a time that is over to another one
 */
final case class EventTime(
    size: Option[Long],
    after: Long,
    mayBeLate: Boolean,
    moves: Boolean = false) {

  /** A column that takes its values from one of two columns. */
  def |(other: EventTime): EventTime = EventTime(
    if (size == other.size) size else None,
    after.max(other.after),
    mayBeLate || other.mayBeLate,
    moves || other.moves)

  /** The same above an operator that has dropped what is late. */
  def afterLate: EventTime = copy(mayBeLate = false, moves = false)

  /** The start or the end of a window, if no late row has it. */
  private def part(at: Int): Option[EventTime] = at match {
    case 0 if !mayBeLate => size.map(EventTime(None, _, mayBeLate = false))
    case 1 if !mayBeLate => Some(EventTime(None, 0L, mayBeLate = false))
    case _ => None
  }
}

private[changelog] object EventTime {

  /** A column that the source marks as event time. */
  def ofSource(source: LogicalPlan, column: Attribute): EventTime =
    EventTime(sizeIn(source, column.exprId), 0L, mayBeLate = true)

  /**
   * The event time of a projected expression.
   *
   * @param isMarked whether Spark marks the result as event time
   */
  def made(value: Expression, isMarked: Boolean, times: Map[ExprId, EventTime]): Option[EventTime] =
    value match {
      case column: Attribute => times.get(column.exprId)
      case field: GetStructField if !isMarked =>
        field.child match {
          case window: Attribute => times.get(window.exprId).flatMap(_.part(field.ordinal))
          case _ => None
        }
      case _ =>
        val from = value.references.toSeq.map(column => times.get(column.exprId))
        if (!isMarked || from.isEmpty || from.exists(_.isEmpty)) None
        else {
          val size = sizeOf(value).orElse(sizeOfBounds(value, times))
          val all = from.flatten
          Some(EventTime(size, 0L, all.exists(_.mayBeLate), all.exists(_.moves)))
        }
    }

  /** The size of the windows, read from Spark's expression for `window(...)`. */
  private def sizeOf(window: Expression): Option[Long] = window match {
    case struct: CreateNamedStruct if struct.valExprs.size == 2 =>
      bare(struct.valExprs(1)) match {
        case end: Add if end.left.semanticEquals(bare(struct.valExprs.head)) =>
          Some(end.right).collect { case Literal(size: Long, _) => size }
        case _ => None
      }
    case _ => None
  }

  /** The size of a window that is made of its two bounds. */
  private def sizeOfBounds(window: Expression, times: Map[ExprId, EventTime]): Option[Long] =
    window match {
      case WindowOfBounds(start: Attribute, _) => times.get(start.exprId).map(_.after)
      case _ => None
    }

  /** Without conversions between times and microseconds. */
  private def bare(value: Expression): Expression = value match {
    case conversion: UnaryExpression => bare(conversion.child)
    case other => other
  }

  /** The size of a plan's windows, at the place where the plan makes them. */
  private def sizeIn(plan: LogicalPlan, id: ExprId): Option[Long] = plan match {
    case project: Project =>
      project.projectList.find(_.exprId == id).flatMap {
        case alias: Alias => sizeBelow(project.child, alias.child)
        case column => sizeIn(project.child, column.exprId)
      }
    case expand: Expand =>
      val at = expand.output.indexWhere(_.exprId == id)
      same(expand.projections.map(row => sizeBelow(expand.child, row(at))))
    case union: Union =>
      val at = union.output.indexWhere(_.exprId == id)
      same(union.children.map(child => sizeIn(child, child.output(at).exprId)))
    case other =>
      other.children.find(_.output.exists(_.exprId == id)).flatMap(sizeIn(_, id))
  }

  private def sizeBelow(plan: LogicalPlan, value: Expression): Option[Long] = value match {
    case column: Attribute => sizeIn(plan, column.exprId)
    case made => sizeOf(made)
  }

  private def same(sizes: Seq[Option[Long]]): Option[Long] = sizes.distinct match {
    case Seq(one) => one
    case _ => None
  }
}

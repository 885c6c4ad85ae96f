package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.StateTypes
import io.firesteel.changelog.plan.{ChangelogOperator, ComputedColumns, OverAggregate, Projection}
import io.firesteel.changelog.plan.frames.{OverCall, OverFrameKind, OverReach}

import io.firesteel.changelog.sql.Clock

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, BoundReference, CurrentRow, Expression, Literal, OffsetWindowFunction, RangeFrame, RowFrame, RuntimeReplaceable, SizeBasedWindowFunction, SortOrder, SpecifiedWindowFrame, UnboundedFollowing, UnboundedPreceding, WindowExpression, WindowFunction}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, DeclarativeAggregate, ImperativeAggregate}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Window}
import org.apache.spark.sql.types.{LongType, NullType}

/** Functions with OVER: a window whose results are columns of all rows. */
final private[parse] case class OverWindow(
    window: Window,
    calls: Seq[(Attribute, WindowExpression)]) {

  /** Expressions that the operator evaluates over its input. */
  def expressions: Seq[Expression] =
    window.partitionSpec ++ window.orderSpec ++ calls.map(_._2.windowFunction)

  /**
   * @param numbers whether equal rows, of which one operator gives different results, are numbered for
   *   one above that goes from row to row
   */
  def operator(
      input: ChangelogOperator,
      ttlMs: Long,
      numbers: Boolean = false): ChangelogOperator = {
    val below = new ComputedColumns()
    // A column of nulls neither separates rows nor orders them.
    val partition = window.partitionSpec.filter(_.dataType != NullType)
      .map(p => below.of(StateTypes.normalForm(p)))
    val order = window.orderSpec.filter(_.dataType != NullType)
      .map(o => o.copy(child = below.of(o.child)))
    val own = calls.map { case (result, its) => result -> OverWindow.call(its, below) }
    val (running, around) = own.partition(its => OverWindow.isRunning(its._2))
    val (byRow, byPeers) = running.partition(_._2.frame.frameType == RowFrame)
    val copy = Option.when(
      numbers && byRow.nonEmpty && around.exists(its => OverWindow.countsRows(its._2)))(
      AttributeReference("copy", LongType, nullable = false)())
    // Running functions last: a change of theirs changes all rows behind it.
    val made = Seq(
      around -> OverWindow.around(around.map(_._2), order),
      byPeers -> OverFrameKind.Running(byPeers = true),
      byRow -> OverFrameKind.Running(byPeers = false)
    ).filter(_._1.nonEmpty).foldLeft(below.over(input)) { case (rows, (named, frames)) =>
      val isNumbered = copy.exists(its => rows.output.exists(_.exprId == its.exprId))
      OverAggregate(
        partition.distinctBy(_.exprId),
        order,
        named.map(_._2),
        named.map(_._1),
        frames,
        (own.flatMap(_._2.references.toSeq) ++ copy.filter(_ => isNumbered)).distinctBy(_.exprId),
        own.map(_._1).filter(result => rows.output.exists(_.exprId == result.exprId)),
        ttlMs,
        rows,
        copyNumber = copy.filterNot(_ => isNumbered),
        numberedBy = copy.filter(_ => isNumbered)
      )
    }
    copy.fold(made)(its => Projection(made.output.filterNot(_.exprId == its.exprId), made))
  }
}

private[parse] object OverWindow {

  def unapply(plan: LogicalPlan): Option[OverWindow] = plan match {
    case window: Window if window.isStreaming =>
      val calls = window.windowExpressions.collect {
        case alias @ Alias(its: WindowExpression, _) if isKnown(its) => alias.toAttribute -> its
      }
      Option.when(calls.size == window.windowExpressions.size)(OverWindow(window, calls))
    case _ => None
  }

  private def isKnown(window: WindowExpression): Boolean =
    window.windowSpec.frameSpecification.isInstanceOf[SpecifiedWindowFrame] &&
      (window.windowFunction match {
        case aggregate: AggregateExpression => !aggregate.isDistinct && isSparks(aggregate)
        case _: WindowFunction => true
        case _ => false
      })

  /** Whether the function runs in Spark's own aggregates, and not in Python. */
  private def isSparks(call: AggregateExpression): Boolean = call.aggregateFunction match {
    case _: DeclarativeAggregate | _: ImperativeAggregate | _: RuntimeReplaceable => true
    case _ => false
  }

  /** The call over columns: what it computes from them is a column below. */
  private def call(window: WindowExpression, below: ComputedColumns): OverCall = {
    val arguments = ArrayBuffer.empty[Expression]
    def place(value: Expression): Expression = {
      arguments += below.of(value)
      BoundReference(arguments.size - 1, value.dataType, value.nullable)
    }
    def literalOrPlace(value: Expression) = literal(value).getOrElse(place(value))
    def ofPlaces(function: Expression): Expression = function match {
      case replaced: RuntimeReplaceable => ofPlaces(replaced.replacement)
      case other => other.mapChildren {
          case order: SortOrder =>
            order.copy(child = literalOrPlace(order.child), sameOrderExpressions = Nil)
          case value => literalOrPlace(value)
        }
    }
    val frame = window.windowSpec.frameSpecification match {
      case its: SpecifiedWindowFrame => its.copy(lower = end(its.lower), upper = end(its.upper))
      case other => throw new IllegalStateException(s"no frame: $other")
    }
    val (function, filter) = window.windowFunction match {
      case aggregate: AggregateExpression =>
        (ofPlaces(aggregate.aggregateFunction), aggregate.filter.map(place))
      case function => (ofPlaces(function), None)
    }
    OverCall(function, filter, frame, arguments.toSeq)
  }

  private def end(bound: Expression): Expression = literal(bound).getOrElse(bound)

  private def literal(e: Expression): Option[Expression] =
    Option.when(e.foldable && !Repeatable.varies(e) && !Clock.hasEpoch(e))(Literal.create(
      e.eval(),
      e.dataType))

  /** Whether the function goes on from row to row, from the partition's first one. */
  private def isRunning(call: OverCall): Boolean =
    call.frame.lower == UnboundedPreceding && call.frame.upper == CurrentRow &&
      (call.function match {
        case _: SizeBasedWindowFunction => false
        case function => function.isInstanceOf[DeclarativeAggregate]
      })

  /** Whether equal rows may have different results. */
  private def countsRows(call: OverCall): Boolean =
    call.function.isInstanceOf[OffsetWindowFunction] || call.frame.frameType == RowFrame

  private def around(calls: Seq[OverCall], order: Seq[SortOrder]): OverFrameKind = {
    val reaches = calls.map(reach(_, order))
    OverFrameKind.Around(
      reaches.map(_._1).foldLeft(OverReach())(_ | _),
      reaches.map(_._2).foldLeft(OverReach())(_ | _))
  }

  /** How far the call looks before and after a row. */
  private def reach(call: OverCall, order: Seq[SortOrder]): (OverReach, OverReach) = {
    val whole = OverReach(isWhole = true)
    call.function match {
      case _: SizeBasedWindowFunction => (whole, whole)
      // It counts rows that are not null, and may look at any number of rows.
      case offset: OffsetWindowFunction if offset.ignoreNulls => (whole, whole)
      case _ =>
        val frame = call.frame
        frame.frameType match {
          case RowFrame => (rows(frame.lower, -1), rows(frame.upper, 1))
          case RangeFrame => RangeReach(frame, order)
        }
    }
  }

  private def rows(bound: Expression, sign: Int): OverReach = bound match {
    case UnboundedPreceding | UnboundedFollowing => OverReach(isWhole = true)
    case CurrentRow => OverReach()
    case offset => OverReach(rows = math.max(0, sign * offset.eval().asInstanceOf[Int]))
  }
}

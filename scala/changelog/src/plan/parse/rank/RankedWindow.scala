package io.firesteel.changelog.plan.parse.rank

import io.firesteel.changelog.common.{StateTypes, WindowEnds}
import io.firesteel.changelog.plan.{ChangelogOperator, ComputedColumns, PlaceFunction, Places, TopN}
import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, AttributeMap, DenseRank, Expression, GreaterThanOrEqual, LessThanOrEqual, NamedExpression, PredicateHelper, Rank, RowNumber, WindowExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Window}
import org.apache.spark.sql.types.NullType

/**
 * A filter on a place in an order: `WHERE row_number() OVER (PARTITION BY k ORDER BY v) <= 10`. A
 * bound that is a column (Flink: variable Top-N) filters the places of all rows.
 *
 * @param projections between the filter and the window, topmost first
 * @param ttl the time to live of a hint between the two
 * @param rest conditions that do not bound the place
 */
final private[parse] case class RankedWindow(
    window: Window,
    rank: Attribute,
    function: PlaceFunction,
    projections: List[Seq[NamedExpression]],
    ttl: Option[Long],
    from: Long,
    to: Long,
    rest: Seq[Expression]) {

  /** Expressions that the operator evaluates over its input. */
  def expressions: Seq[Expression] = window.partitionSpec ++ window.orderSpec

  def operator(input: ChangelogOperator, ttlMs: Long): ChangelogOperator =
    operator(input, from, Some(rank), ttlMs)

  /** The rows up to the last place, without their places, when the watermark closes their window. */
  def atClose(
      end: Attribute,
      ends: Option[WindowEnds],
      input: ChangelogOperator): ChangelogOperator =
    operator(input, from = 1L, rank = None, ttlMs = 0L).copy(once = Some(end), ends = ends)

  private def operator(
      input: ChangelogOperator,
      from: Long,
      rank: Option[Attribute],
      ttlMs: Long): TopN = {
    val below = new ComputedColumns()
    // A column of nulls neither separates rows nor orders them.
    val partition = window.partitionSpec.filter(_.dataType != NullType).map { p =>
      below.of(StateTypes.normalForm(p))
    }
    val order = window.orderSpec.filter(_.dataType != NullType).map { o =>
      o.copy(child = below.of(o.child))
    }
    TopN(
      partition.distinctBy(_.exprId),
      order,
      function,
      from,
      to,
      rank,
      ttlMs,
      below.over(input))
  }
}

private[parse] object RankedWindow extends PredicateHelper {

  def unapply(filter: Filter): Option[RankedWindow] = {
    val projected = Projected.of(filter.child)
    ranked(projected.below).map { case (window, rank, function) =>
      read(filter, projected, window, rank, function)
    }
  }

  /** A ranking that nothing bounds: all rows, with their places. */
  object Whole {
    def unapply(plan: LogicalPlan): Option[RankedWindow] =
      ranked(plan).map { case (window, rank, function) =>
        RankedWindow(window, rank, function, Nil, None, 1L, Places.noLast, Nil)
      }
  }

  private def ranked(plan: LogicalPlan): Option[(Window, Attribute, PlaceFunction)] = plan match {
    case window: Window if window.isStreaming =>
      window.windowExpressions match {
        case Seq(alias @ Alias(call: WindowExpression, _)) =>
          functionOf(call.windowFunction).map((window, alias.toAttribute, _))
        case _ => None
      }
    case _ => None
  }

  private def read(
      filter: Filter,
      projected: Projected,
      window: Window,
      rank: Attribute,
      function: PlaceFunction): RankedWindow = {
    val parts = splitConjunctivePredicates(withoutBetween(filter.condition)).map { written =>
      written -> PlaceBound.of(projected.lists.foldLeft(written)(insert), rank)
    }
    val bound = parts.flatMap(_._2).foldLeft(PlaceBound.all)(_ and _)
    val to = bound.to.fold(Places.noLast)(_.max(0L))
    val rest = parts.collect { case (written, its) if !its.exists(_.isExact) => written }
    RankedWindow(
      window,
      rank,
      function,
      projected.lists,
      projected.ttl,
      bound.from,
      to,
      rest)
  }

  private def withoutBetween(condition: Expression): Expression = condition.transform {
    case BetweenParts(value, least, most) if value.deterministic =>
      And(GreaterThanOrEqual(value, least), LessThanOrEqual(value, most))
  }

  /** A condition in terms of the columns below a projection. */
  private def insert(condition: Expression, columns: Seq[NamedExpression]): Expression = {
    val values = AttributeMap(columns.collect { case a: Alias => a.toAttribute -> a.child })
    condition.transform { case a: Attribute => values.getOrElse(a, a) }
  }

  private def functionOf(e: Expression): Option[PlaceFunction] = e match {
    case _: RowNumber => Some(PlaceFunction.RowNumber)
    case _: Rank => Some(PlaceFunction.Rank)
    case _: DenseRank => Some(PlaceFunction.DenseRank)
    case _ => None
  }
}

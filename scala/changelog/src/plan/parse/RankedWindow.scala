package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.sql.RowKindFunction
import io.firesteel.changelog.ChangelogErrors
import io.firesteel.changelog.plan.{ChangelogOperator, ComputedColumns, PlaceFunction, TopN}
import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, AttributeMap, Between, BinaryComparison, Cast, DenseRank, EqualNullSafe, EqualTo, Expression, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual, NamedExpression, PredicateHelper, Rank, RowNumber, WindowExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Window}
import org.apache.spark.sql.firesteel.normalizeFloats

/**
 * A filter on a place in an order: `WHERE row_number() OVER (PARTITION BY k ORDER BY v) <= 10`.
 *
 * @param projections between the filter and the window, from above down
 * @param ttl of a hint between the two
 * @param rest conditions that are no bound of the place
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

  /** What the operator evaluates over its input. */
  def expressions: Seq[Expression] = window.partitionSpec ++ window.orderSpec

  def operator(input: ChangelogOperator, ttlMs: Long): ChangelogOperator = {
    val below = new ComputedColumns("_window")
    // The row keeps its own -0.0; the key of its partition does not.
    val partition = window.partitionSpec.map(p => below.of(normalizeFloats(p)))
    val order = window.orderSpec.map(o => o.copy(child = below.of(o.child)))
    TopN(
      partition.distinctBy(_.exprId),
      order,
      function,
      from,
      to,
      Some(rank),
      ttlMs,
      below.over(input))
  }
}

private[parse] object RankedWindow extends PredicateHelper {

  def unapply(filter: Filter): Option[RankedWindow] = {
    val projected = Projected.of(filter.child)
    projected.below match {
      case window: Window if window.isStreaming =>
        window.windowExpressions match {
          case Seq(alias @ Alias(call: WindowExpression, _)) =>
            functionOf(call.windowFunction).map(
              read(filter, projected, window, alias.toAttribute, _))
          case _ => None
        }
      case _ => None
    }
  }

  private def read(
      filter: Filter,
      projected: Projected,
      window: Window,
      rank: Attribute,
      function: PlaceFunction): RankedWindow = {
    val (bounds, rest) = splitConjunctivePredicates(withoutBetween(filter.condition)).partitionMap {
      written =>
        bound(projected.lists.foldLeft(written)(insert), rank).toLeft(written)
    }
    val uppers = bounds.flatMap(_.to)
    if (uppers.isEmpty) throw ChangelogErrors.noUpperBound(function.name, filter.condition.sql)
    val from = bounds.flatMap(_.from).maxOption.getOrElse(1L).max(1L)
    RankedWindow(
      window,
      rank,
      function,
      projected.lists,
      projected.ttl,
      from,
      uppers.min,
      rest)
  }

  private def withoutBetween(condition: Expression): Expression = condition.transform {
    case between: Between if between.input.deterministic =>
      And(
        GreaterThanOrEqual(between.input, between.lower),
        LessThanOrEqual(between.input, between.upper))
  }

  /** What a condition says in columns of the projection's input. */
  private def insert(condition: Expression, columns: Seq[NamedExpression]): Expression = {
    val values = AttributeMap(columns.collect { case a: Alias => a.toAttribute -> a.child })
    condition.transform { case a: Attribute => values.getOrElse(a, a) }
  }

  private case class Bound(from: Option[Long], to: Option[Long])

  private def bound(condition: Expression, rank: Attribute): Option[Bound] = condition match {
    case comparison: BinaryComparison =>
      val (left, right) = (comparison.left, comparison.right)
      if (isRank(left, rank)) number(right).flatMap(n => of(comparison, n, flipped = false))
      else if (isRank(right, rank)) number(left).flatMap(n => of(comparison, n, flipped = true))
      else None
    case _ => None
  }

  private def of(comparison: BinaryComparison, n: Long, flipped: Boolean): Option[Bound] =
    comparison match {
      case _: EqualTo | _: EqualNullSafe => Some(Bound(Some(n), Some(n)))
      case _: LessThanOrEqual => Some(if (flipped) least(n) else most(n))
      case _: GreaterThanOrEqual => Some(if (flipped) most(n) else least(n))
      case _: LessThan => Some(if (flipped) least(n + 1) else most(n - 1))
      case _: GreaterThan => Some(if (flipped) most(n - 1) else least(n + 1))
      case _ => None
    }

  private def most(n: Long) = Bound(None, Some(n))
  private def least(n: Long) = Bound(Some(n), None)

  private def isRank(e: Expression, rank: Attribute): Boolean = e match {
    case a: Attribute => a.exprId == rank.exprId
    case cast: Cast =>
      Cast.canUpCast(cast.child.dataType, cast.dataType) && isRank(cast.child, rank)
    case _ => false
  }

  private def number(e: Expression): Option[Long] =
    if (!e.foldable || RowKindFunction.isIn(e)) None
    else {
      e.eval() match {
        case n: Int => Some(n.toLong)
        case n: Long if n.abs < Int.MaxValue.toLong * 4 => Some(n)
        case n: Short => Some(n.toLong)
        case n: Byte => Some(n.toLong)
        case _ => None
      }
    }

  private def functionOf(e: Expression): Option[PlaceFunction] = e match {
    case _: RowNumber => Some(PlaceFunction.RowNumber)
    case _: Rank => Some(PlaceFunction.Rank)
    case _: DenseRank => Some(PlaceFunction.DenseRank)
    case _ => None
  }
}

package io.firesteel.changelog.plan.parse.rank

import io.firesteel.changelog.plan.{ChangelogOperator, ComputedColumns, PlaceFunction, Places, TopN}
import io.firesteel.changelog.sql.Clock
import org.apache.spark.sql.catalyst.expressions.{Expression, NamedExpression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{GlobalLimit, LocalLimit, LogicalPlan, Offset, Sort}
import org.apache.spark.sql.types.NullType

/**
 * `ORDER BY ... [LIMIT n] [OFFSET m]`: a Top-N of the whole input. Without an order any rows are a
 * right result; they are the first by their bytes.
 *
 * @param ttl the time to live of a hint between the two
 */
final private[parse] case class SortedLimit(
    order: Seq[SortOrder],
    rows: LogicalPlan,
    projections: List[Seq[NamedExpression]],
    ttl: Option[Long],
    from: Long,
    to: Long) {

  def operator(input: ChangelogOperator, ttlMs: Long): ChangelogOperator = {
    val below = new ComputedColumns()
    val by = order.filter(_.dataType != NullType).map { o =>
      o.copy(child = below.of(o.child))
    }
    TopN(Nil, by, PlaceFunction.RowNumber, from, to, None, ttlMs, below.over(input))
  }

  /** The rows from one place to another of these rows, which Spark takes in the same order. */
  private[rank] def part(above: Projected, first: Long, last: Long): SortedLimit = copy(
    projections = above.lists ++ projections,
    ttl = ttl.orElse(above.ttl),
    from = from - 1 + first,
    to = if (last >= Places.noLast) to else math.min(to, from - 1 + last)
  )
}

/** @param nested whether a limit of a limit is one operator, see `PlanVersion.nestedLimits` */
final private[parse] class SortedLimits(nested: Boolean) {

  def unapply(plan: LogicalPlan): Option[SortedLimit] = plan match {
    case GlobalLimit(Constant(n), LocalLimit(_, child)) => below(child, n, 0L)
    // DataFrames write it like this: of the first n rows all but m.
    case Offset(Constant(m), GlobalLimit(Constant(n), LocalLimit(_, child))) if m < n =>
      below(child, n - m, m)
    case Offset(Constant(m), child) => below(child, Places.noLast - m, m)
    case _ => None
  }

  /** Spark folds `2 + 1` later, in the optimizer. Its analyzer has refused negative numbers. */
  private object Constant {
    def unapply(expression: Expression): Option[Long] =
      if (!expression.foldable || Clock.isIn(expression)) None
      else Option(expression.eval()).collect { case n: Int => n.toLong }
  }

  private def below(plan: LogicalPlan, n: Long, skipped: Long): Option[SortedLimit] = plan match {
    case Offset(Constant(m), child) if skipped == 0 => below(child, n, m)
    case other =>
      Projected.of(other) match {
        case Projected(projections, ttl, sort: Sort) if sort.global =>
          Some(SortedLimit(sort.order, sort.child, projections, ttl, skipped + 1, skipped + n))
        case above =>
          val limited = if (nested) unapply(above.below) else None
          limited.map(_.part(above, skipped + 1, skipped + n))
            .orElse(Some(SortedLimit(Nil, other, Nil, None, skipped + 1, skipped + n)))
      }
  }
}

package io.firesteel.changelog.plan.parse.rank

import org.apache.spark.sql.catalyst.expressions.{And, Between, CommonExpressionRef, Expression, GreaterThanOrEqual, LessThanOrEqual, With}

/**
 * `value BETWEEN least AND most` as Spark evaluates it. The parameters are read from what replaces
 * them: when the analyzer gives a side of a self join new columns, it changes only that.
 */
private[parse] object BetweenParts {

  /** The value and its bounds. */
  def unapply(between: Between): Option[(Expression, Expression, Expression)] =
    between.replacement match {
      case shared: With => comparisons(shared.child).map {
          case (_: CommonExpressionRef, least, most) => (shared.defs.head.child, least, most)
          case all => all
        }
      case other => comparisons(other)
    }

  private def comparisons(both: Expression): Option[(Expression, Expression, Expression)] =
    both match {
      case And(GreaterThanOrEqual(value, least), LessThanOrEqual(_, most)) =>
        Some((value, least, most))
      case _ => None
    }
}

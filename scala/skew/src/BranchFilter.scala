package io.firesteel.skew

import io.firesteel.core.plans.CannotFail
import org.apache.spark.sql.catalyst.expressions.{And, Expression, If, Literal}

/**
 * The conditions of one branch, arranged so that none is evaluated on a row on which the branch by
 * itself would not have evaluated it.
 *
 * The rows of other branches come along: a condition that can fail is evaluated only where all those
 * that cannot fail hold. `If` says so and not `And`, of which Spark may evaluate the right side ahead
 * when it has a subexpression that occurs twice.
 */
private[skew] final class BranchFilter(conditions: Seq[Expression]) {

  private val (safe, failing) = conditions.partition(CannotFail(_))

  /** Which rows belong to the branch. */
  def exact: Expression = (safe.reduceOption(And), failing.reduceOption(And)) match {
    case (Some(first), Some(next)) => If(first, next, Literal.FalseLiteral)
    case (first, next) => first.orElse(next).getOrElse(Literal.TrueLiteral)
  }

  /** What rows of the branch have in common, in a form that sources understand. */
  def coarse: Expression =
    safe.reduceOption(And).orElse(failing.reduceOption(And)).getOrElse(Literal.TrueLiteral)

  /**
   * A condition that cannot be kept from rows on which it was not evaluated before: something inside
   * of it protects a part of it, or another condition may have kept whole files away.
   */
  def unsafe: Option[Expression] = {
    val columns = failing.map(_.references.map(_.exprId).toSet).distinct
    failing.find(!CannotFail.isUnprotected(_))
      .orElse(if (columns.size > 1) failing.lastOption else None)
  }
}

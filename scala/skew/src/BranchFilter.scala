package io.firesteel.skew

import io.firesteel.core.expressions.CannotFail
import org.apache.spark.sql.catalyst.expressions.{And, Expression, If, Literal}

/**
 * The conditions of one branch, in an order that evaluates none of them on a row on which Spark
 * would not evaluate it.
 *
 * The merged aggregate also reads the rows of other branches. A condition that can fail is
 * evaluated only where all conditions that cannot fail hold. This uses `If`, not `And`: Spark may
 * evaluate the right side of an `And` first if it contains a common subexpression.
 */
private[skew] final class BranchFilter(conditions: Seq[Expression]) {

  private val (safe, failing) = conditions.partition(CannotFail(_))

  /** True for exactly the rows of the branch. */
  def exact: Expression = (safe.reduceOption(And), failing.reduceOption(And)) match {
    case (Some(first), Some(next)) => If(first, next, Literal.FalseLiteral)
    case (first, next) => first.orElse(next).getOrElse(Literal.TrueLiteral)
  }

  /** True for all rows of the branch and maybe others; in a form that sources can push down. */
  def coarse: Expression =
    safe.reduceOption(And).orElse(failing.reduceOption(And)).getOrElse(Literal.TrueLiteral)

  /**
   * A condition that could fail on a row on which Spark does not evaluate it. Either one part of it
   * protects another part, or several conditions can fail over different columns: then one of them
   * may have pruned whole files.
   */
  def unsafe: Option[Expression] = {
    val columns = failing.map(_.references.map(_.exprId).toSet).distinct
    failing.find(!CannotFail.isUnprotected(_))
      .orElse(if (columns.size > 1) failing.lastOption else None)
  }
}

package io.firesteel.core.expressions

import org.apache.spark.sql.catalyst.expressions.{Add, Attribute, Expression, Multiply}

/**
 * A form that two expressions share only if they have the same value in each row.
 *
 * Spark's canonical form, without ANSI, has the operands of sums and products in one order. That is
 * another value for floats, for decimals that overflow, and for `try_add`.
 */
private[firesteel] object SameValue {

  def of(expression: Expression): Expression =
    if (isInOrder(expression)) expression.transform { case a: Attribute => a.canonicalized }
    else expression.canonicalized

  /** Whether Spark takes other expressions for the same one that have another value. */
  def isInOrder(expression: Expression): Boolean = expression.exists {
    case _: Add | _: Multiply => true
    case _ => false
  }
}

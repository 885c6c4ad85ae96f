package io.firesteel.core.expressions

import org.apache.spark.sql.catalyst.expressions.{Add, Attribute, Expression, Multiply}
import org.apache.spark.sql.types.{DecimalType, DoubleType, FloatType}

/**
 * A form that two expressions share only if they have the same value in each row.
 *
 * Spark's canonical form, without ANSI, has the operands of sums and products in one order. That is
 * another value for floats and for decimals that overflow.
 */
object SameValue {

  def of(expression: Expression): Expression =
    if (expression.exists(isInOrder)) expression.transform { case a: Attribute => a.canonicalized }
    else expression.canonicalized

  private def isInOrder(expression: Expression): Boolean = expression match {
    case _: Add | _: Multiply => expression.dataType match {
        case FloatType | DoubleType | _: DecimalType => true
        case _ => false
      }
    case _ => false
  }
}

package io.firesteel.core.expressions

import org.apache.spark.sql.catalyst.expressions.{Add, Attribute, BoundReference, Expression, ExprId, Greatest, Least, Multiply, PlanExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * Sums, products, `GREATEST` and `LEAST` in another order. Without ANSI Spark takes `(a + b) + c` and
 * `a + (b + c)` for one, and always `greatest(a, b)` and `greatest(b, a)`, and computes one of them
 * for both if they are in one operator. For floats, for decimals that overflow and for `try_add` two
 * sums are two values, and so are two of `0.0` and `-0.0`, or of collated texts. What Spark's plan
 * computes in several operators must then stay apart.
 *
 * Source: `CommutativeExpression.orderCommutative` of Spark.
 */
private[firesteel] object SumOrder {

  /** Whether a part of an expression may be taken for another one. */
  def isIn(expression: Expression): Boolean = expression.exists(isOrdered)

  /** One of two parts of these expressions that Spark would compute as one. */
  def confused(all: Seq[Expression]): Option[Expression] =
    all.flatMap(_.collect { case its if isOrdered(its) => its })
      .groupBy(_.canonicalized).values
      .find(_.map(written).distinct.size > 1).map(_.head)

  /** A part of a plan that another plan, which Spark takes for the same, has otherwise. */
  def confused(plan: LogicalPlan, other: LogicalPlan): Option[Expression] = {
    val (its, others) = (orderedIn(plan), orderedIn(other))
    if (its.map(_._2) == others.map(_._2)) None else (its ++ others).headOption.map(_._1)
  }

  /** All such parts, and with places of columns instead of the columns. */
  private def orderedIn(plan: LogicalPlan): Seq[(Expression, Expression)] = plan.collect {
    case node =>
      val columns = node.children.flatMap(_.output) ++ node.output
      node.expressions.flatMap(_.collect { case its if isOrdered(its) => its }).map { its =>
        its -> written(its.transform { case column: Attribute =>
          BoundReference(
            columns.indexWhere(_.exprId == column.exprId),
            column.dataType,
            nullable = true)
        })
      }
  }.flatten

  private def isOrdered(expression: Expression): Boolean = expression match {
    case _: Add | _: Multiply | _: Greatest | _: Least => true
    case _ => false
  }

  /** The same for expressions that differ by the sides of single sums and products only. */
  private def written(expression: Expression): Expression = expression.transformUp {
    case column: Attribute => column.canonicalized
    case subquery: PlanExpression[_] => subquery.canonicalized
    case call: AggregateExpression => call.copy(resultId = ExprId(0))
    case sum @ (_: Add | _: Multiply) => sum.withNewChildren(sum.children.sortBy(_.hashCode))
  }
}

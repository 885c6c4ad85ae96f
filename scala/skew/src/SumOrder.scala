package io.firesteel.skew

import org.apache.spark.sql.catalyst.expressions.{Add, Attribute, Expression, ExprId, Greatest, Least, Multiply, PlanExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression

/**
 * Sums, products, `GREATEST` and `LEAST` in another order. Without ANSI Spark takes `(a + b) + c` and
 * `a + (b + c)` for one, and always `greatest(a, b)` and `greatest(b, a)`, and computes one of them
 * for both if they are in one operator. For floats, for decimals that overflow and for `try_add` two
 * sums are two values, and so are two of `0.0` and `-0.0`, or of collated texts. What Spark's plan
 * computes in several operators must then stay apart.
 *
 * Source: `CommutativeExpression.orderCommutative` of Spark.
 */
private[skew] object SumOrder {

  /** One of two parts of these expressions that Spark would compute as one. */
  def confused(all: Seq[Expression]): Option[Expression] =
    all.flatMap(_.collect {
      case its @ (_: Add | _: Multiply | _: Greatest | _: Least) => its
    })
      .groupBy(_.canonicalized).values
      .find(_.map(written).distinct.size > 1).map(_.head)

  /** The same for expressions that differ by the sides of single sums and products only. */
  private def written(expression: Expression): Expression = expression.transformUp {
    case column: Attribute => column.canonicalized
    case subquery: PlanExpression[_] => subquery.canonicalized
    case call: AggregateExpression => call.copy(resultId = ExprId(0))
    case sum @ (_: Add | _: Multiply) => sum.withNewChildren(sum.children.sortBy(_.hashCode))
  }
}

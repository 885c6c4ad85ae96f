package io.firesteel.changelog.plan.parse

import org.apache.spark.sql.catalyst.expressions.{Alias, Ascending, Attribute, DecimalAddNoOverflowCheck, Expression, SortOrder, TryAdd, UnaryMinus}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, Project}
import org.apache.spark.sql.firesteel.analyzed
import org.apache.spark.sql.types.DecimalType

/**
 * The end of a frame, such as `RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND CURRENT ROW`, computed
 * from the row; null where there is no such value.
 */
private[parse] object RangeBound {

  def apply(order: SortOrder, offset: Expression): Expression = {
    val towards = if (order.direction == Ascending) offset else UnaryMinus(offset)
    order.dataType match {
      // As in Spark's own frames: the sum has the type of the order.
      case decimal: DecimalType => DecimalAddNoOverflowCheck(order.child, towards, decimal)
      case _ => resolved(order, towards)
    }
  }

  /** Spark's analyser chooses the function that adds the offset to a value of the order's type. */
  private def resolved(order: SortOrder, towards: Expression): Expression = {
    val rows = LocalRelation(order.child.asInstanceOf[Attribute])
    val sum = Project(Seq(Alias(new TryAdd(order.child, towards), "bound")()), rows)
    analyzed(sum) match {
      case Project(Seq(Alias(bound: TryAdd, _)), _) => bound.replacement
      case other => throw new IllegalStateException(s"no projection: $other")
    }
  }
}

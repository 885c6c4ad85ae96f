package io.firesteel.changelog.plan.parse

import org.apache.spark.sql.catalyst.expressions.{Add, Alias, Ascending, Attribute, Expression, SortOrder, UnaryMinus}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, Project}
import org.apache.spark.sql.classic.SparkSession

/**
 * The end of a frame, such as `RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND CURRENT ROW`, computed
 * from the row.
 */
private[parse] object RangeBound {

  /** Spark's analyser chooses the function that adds the offset to a value of the order's type. */
  def apply(order: SortOrder, offset: Expression): Expression = {
    val towards = if (order.direction == Ascending) offset else UnaryMinus(offset)
    val rows = LocalRelation(order.child.asInstanceOf[Attribute])
    val sum = Project(Seq(Alias(Add(order.child, towards), "bound")()), rows)
    SparkSession.active.sessionState.analyzer.execute(sum) match {
      case Project(Seq(bound: Alias), _) => bound.child
      case other => throw new IllegalStateException(s"no projection: $other")
    }
  }
}

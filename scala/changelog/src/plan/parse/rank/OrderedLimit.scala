package io.firesteel.changelog.plan.parse.rank

import org.apache.spark.sql.catalyst.expressions.{Alias, AttributeSet, NamedExpression, RowNumber, WindowExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Sort, SubqueryAlias, Window}

/**
 * The numbers of a limit that each row has of its own, over rows in an order: they take the order, which
 * may stand below names and selected columns. Spark numbers the rows as the sort has left them.
 */
private[parse] object OrderedLimit {

  /** The numbered rows; none if they have no order. */
  def unapply(window: Window): Option[LogicalPlan] =
    (window.orderSpec, window.windowExpressions) match {
      case (Nil, Seq(number @ Alias(call: WindowExpression, _)))
          if call.windowFunction.isInstanceOf[RowNumber] =>
        ordered(window.child, window, number, call)
      case _ => None
    }

  private def ordered(
      rows: LogicalPlan,
      window: Window,
      number: Alias,
      call: WindowExpression): Option[LogicalPlan] = rows match {
    case sort: Sort
        if sort.global && AttributeSet(window.partitionSpec).subsetOf(sort.child.outputSet) =>
      val spec = call.windowSpec.copy(orderSpec = sort.order)
      val its =
        number.withNewChildren(Seq(call.copy(windowSpec = spec))).asInstanceOf[NamedExpression]
      Some(window.copy(windowExpressions = Seq(its), orderSpec = sort.order, child = sort.child))
    case Project(columns, below) =>
      ordered(below, window, number, call).map(Project(columns :+ number.toAttribute, _))
    case alias: SubqueryAlias =>
      ordered(alias.child, window, number, call).map(below => alias.copy(child = below))
    case _ => None
  }
}

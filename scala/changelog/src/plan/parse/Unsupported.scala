package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.ChangelogErrors
import org.apache.spark.sql.catalyst.expressions.{Expression, WindowExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.{GlobalLimit, LocalLimit, LogicalPlan, Offset, Sort, Window}

/** The error for an operator that this room does not support. */
private[parse] object Unsupported {

  private val ranks: Set[String] = Set("row_number", "rank", "dense_rank")

  private def nameOf(column: Expression): Option[String] = column.collectFirst {
    case over: WindowExpression =>
      over.windowFunction match {
        case aggregate: AggregateExpression => aggregate.aggregateFunction.prettyName
        case function => function.prettyName
      }
  }

  def apply(plan: LogicalPlan, refused: Option[String]): Throwable = plan match {
    case window: Window =>
      val functions = window.windowExpressions.flatMap(nameOf).distinct
      val instead =
        if (functions.forall(ranks)) "bound it, such as WHERE row_number <= 10"
        else "aggregate with GROUP BY"
      refuse(
        functions.mkString("OVER of ", ", ", ""),
        "a new row may change the result of every row of its partition",
        instead)
    case _: Sort =>
      refuse(
        "ORDER BY",
        "an unbounded result has no order",
        "add LIMIT, or use complete mode with ORDER BY as the last clause")
    case _: Offset =>
      refuse(
        "OFFSET",
        "every new row may change the places of all other rows",
        "add ORDER BY and LIMIT")
    case _: GlobalLimit | _: LocalLimit =>
      refuse("LIMIT", "without ORDER BY any rows are a correct result", "add ORDER BY below LIMIT")
    case other if other.children.forall(c => !c.isStreaming || isSource(c)) =>
      refuse(
        other.nodeName,
        s"it has no changelog form${refused.fold("")(r => s", and Spark says: $r")}",
        ownQuery)
    case other =>
      refuse(
        other.nodeName,
        s"it has no changelog form${refused.fold("")(r => s", and Spark says: $r")}",
        "write it on the source, below the first aggregation, or on a table that the query fills"
      )
  }

  private val ownQuery =
    "run it in a separate query that writes to a table, and read that table as a stream"

  private def isSource(plan: LogicalPlan): Boolean = StatelessSource.unapply(plan).nonEmpty

  private def refuse(operator: String, reason: String, instead: String): Throwable =
    ChangelogErrors.unsupportedOperator(operator, reason, instead)
}

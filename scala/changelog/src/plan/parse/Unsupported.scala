package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.ChangelogErrors
import org.apache.spark.sql.catalyst.expressions.{Expression, UserDefinedExpression, WindowExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.{GlobalLimit, LocalLimit, LogicalPlan, Offset, Sort, Window}

/** The error for an operator that this room does not support. */
private[parse] object Unsupported {

  private def nameOf(column: Expression): Option[String] = column.collectFirst {
    case over: WindowExpression =>
      val function = over.windowFunction match {
        case aggregate: AggregateExpression => aggregate.aggregateFunction
        case other => other
      }
      function match {
        case own: UserDefinedExpression => own.name
        case other => other.prettyName
      }
  }

  def apply(plan: LogicalPlan, refused: Option[String]): Throwable = plan match {
    case window: Window =>
      refuse(
        window.windowExpressions.flatMap(nameOf).distinct.mkString("OVER of ", ", ", ""),
        "a function in Python cannot be computed again for some of its rows",
        "use a function that runs in the JVM"
      )
    case _: Sort =>
      refuse(
        "ORDER BY in a subquery",
        "what stands above it takes rows in their order, and rows that change have none",
        "write the order at the LIMIT, or into the function, as max_by(value, order)"
      )
    case _: GlobalLimit | _: LocalLimit | _: Offset =>
      refuse("LIMIT", "its number is not known before the query runs", "write it as a number")
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

package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.ChangelogErrors
import org.apache.spark.sql.catalyst.plans.logical.{GlobalLimit, Join, LocalLimit, LogicalPlan, Offset, Sort, Window}

/** Names the operator that this room does not know. */
private[parse] object Unsupported {

  def apply(plan: LogicalPlan, refused: Option[String]): Throwable = plan match {
    case _: Window =>
      refuse(
        "OVER",
        "a window function has a result for each row of its partition, all of which may change",
        "bound it, as in WHERE row_number <= 10, or aggregate with GROUP BY"
      )
    case _: Sort =>
      refuse(
        "ORDER BY",
        "a result without end has no order",
        "add LIMIT, or use complete mode with ORDER BY as the query's last clause")
    case _: Offset =>
      refuse(
        "OFFSET",
        "all rows but the first would be the result, and change places with every one that comes",
        "add ORDER BY and LIMIT")
    case _: GlobalLimit | _: LocalLimit =>
      refuse("LIMIT", "without ORDER BY any rows would do", "add ORDER BY below LIMIT")
    case join: Join if join.children.forall(_.isStreaming) =>
      refuse(
        s"${join.joinType.sql} JOIN of two streams",
        "a row of each may meet rows of the other that come much later",
        "let a query of its own write one of them to a table, and join the other with that table"
      )
    case other if other.children.forall(c => !c.isStreaming || isSource(c)) =>
      refuse(
        other.nodeName,
        s"it has no changelog form yet${refused.fold("")(r => s", and Spark says: $r")}",
        ownQuery)
    case other =>
      refuse(
        other.nodeName,
        s"it has no changelog form yet${refused.fold("")(r => s", and Spark says: $r")}",
        "write it on the source, below the first aggregation, or on a table that the query fills"
      )
  }

  private val ownQuery =
    "run it in a query of its own that writes to a table, and read that table as a stream"

  private def isSource(plan: LogicalPlan): Boolean = StatelessSource.unapply(plan).nonEmpty

  private def refuse(operator: String, reason: String, instead: String): Throwable =
    ChangelogErrors.unsupportedOperator(operator, reason, instead)
}

package io.firesteel.changelog

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** How a table that is no stream is joined with a changelog. */
sealed trait JoinedTable

object JoinedTable {

  /**
   * Read whole and broadcast.
   *
   * @param keys columns of `plan`, which has at most one row for each value of them, and the matches
   */
  final case class Whole(keys: Seq[Attribute], plan: LogicalPlan) extends JoinedTable

  /**
   * Asked by key.
   *
   * @param keys over columns of `plan`
   * @param isThere a column of `plan` that is never null
   * @param element what of a row of `plan` is a match
   */
  final case class ByKey(
      keys: Seq[Expression],
      isThere: Attribute,
      element: Expression,
      plan: LogicalPlan)
    extends JoinedTable
}

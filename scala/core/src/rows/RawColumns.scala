package io.firesteel.core.rows

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}

/**
 * Columns of which a key is made and that functions read as well, under names of their own.
 *
 * A key of floating-point numbers is normalised, and keeps the id of its column, by which the results
 * know it. A function of the same aggregate reads the column itself, where `-0.0` is not `0.0`.
 */
private[firesteel] final class RawColumns private (copies: AttributeMap[Alias]) {

  /** A function that reads the columns. */
  def over(call: AggregateExpression): AggregateExpression =
    if (copies.isEmpty) call
    else
      call
        .transform { case column: Attribute => copies.get(column).fold(column)(_.toAttribute) }
        .asInstanceOf[AggregateExpression]

  /** The rows with the columns beside what they have. */
  def below(rows: LogicalPlan): LogicalPlan =
    if (copies.isEmpty) rows else Project(rows.output ++ copies.values, rows)
}

private[firesteel] object RawColumns {

  /** @param keys those that are computed have the id of their column, or one that no column has */
  def of(keys: Seq[NamedExpression], functions: Seq[Expression]): RawColumns = {
    val computed = keys.collect { case alias: Alias => alias.exprId }.toSet
    val read = functions.flatMap(_.references).distinct.filter(c => computed.contains(c.exprId))
    new RawColumns(AttributeMap(read.map(column => column -> Alias(column, column.name)())))
  }
}

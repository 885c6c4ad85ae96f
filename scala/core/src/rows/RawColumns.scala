package io.firesteel.core.rows

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}

/**
 * Copies of columns that are part of a key and that functions read, too.
 *
 * A key of floating-point numbers is normalised and keeps the id of its column, by which the
 * results refer to it. A function of the same aggregate reads the original column, in which `-0.0`
 * is not `0.0`.
 */
private[firesteel] final class RawColumns private (copies: AttributeMap[Alias]) {

  /** The function, reading the copies. */
  def over(call: AggregateExpression): AggregateExpression =
    if (copies.isEmpty) call
    else
      call
        .transform { case column: Attribute => copies.get(column).fold(column)(_.toAttribute) }
        .asInstanceOf[AggregateExpression]

  /** The rows with the copies added. */
  def below(rows: LogicalPlan): LogicalPlan =
    if (copies.isEmpty) rows else Project(rows.output ++ copies.values, rows)
}

private[firesteel] object RawColumns {

  /** @param keys a computed key has the id of its column, or an id of its own */
  def of(keys: Seq[NamedExpression], functions: Seq[Expression]): RawColumns = {
    val computed = keys.collect { case alias: Alias => alias.exprId }.toSet
    val read = functions.flatMap(_.references).distinct.filter(c => computed.contains(c.exprId))
    new RawColumns(AttributeMap(read.map(column => column -> Alias(column, column.name)())))
  }
}

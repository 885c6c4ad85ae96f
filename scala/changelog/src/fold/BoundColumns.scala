package io.firesteel.changelog.fold

import org.apache.spark.sql.catalyst.expressions.{Attribute, BindReferences, Expression, SortOrder}

/** Columns and orders bound to places in a row. */
private[changelog] object BoundColumns {

  def order(order: Seq[SortOrder], row: Seq[Attribute]): Seq[SortOrder] =
    order.map(o => BindReferences.bindReference(o, row))

  def bound(expressions: Seq[Expression], row: Seq[Attribute]): Seq[Expression] =
    expressions.map(BindReferences.bindReference(_, row))

  def of(columns: Seq[Attribute], row: Seq[Attribute]): Seq[Expression] =
    columns.map(c => BindReferences.bindReference(c: Expression, row))
}

package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, CreateArray, CreateNamedStruct, Expression, Literal, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.CollectList
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}

/** How a changelog is joined with a table that is no stream. */
private[plan] sealed trait JoinedTable {

  /** The table's columns that a match keeps. Without columns a match only says that it exists. */
  def columns: Seq[Attribute]

  def withColumns(columns: Seq[Attribute]): JoinedTable

  final def element: Expression = CreateNamedStruct(
    if (columns.isEmpty) Seq(Literal("is_there"), Literal(true))
    else columns.zipWithIndex.flatMap { case (c, i) => Seq(Literal(s"_$i"), c) })
}

private[plan] object JoinedTable {

  /**
   * The table is read whole and broadcast.
   *
   * @param keys expressions over columns of `table`
   * @param once whether one match is enough (semi and anti joins)
   */
  final case class Whole(
      keys: Seq[Expression],
      columns: Seq[Attribute],
      once: Boolean,
      table: LogicalPlan)
    extends JoinedTable {
    override def withColumns(columns: Seq[Attribute]): Whole = copy(columns = columns)

    /** One row for each value of the keys: the keys, then an array of the matches. */
    def byKey(matches: Attribute): (Seq[Attribute], LogicalPlan) = {
      val named = keys.map(Alias(_, "key")())
      val all =
        if (once) CreateArray(Seq(element)) else CollectList(element).toAggregateExpression()
      val results: Seq[NamedExpression] = named :+ Alias(all, matches.name)(matches.exprId)
      (named.map(_.toAttribute), Aggregate(keys, results, table))
    }
  }

  /** No table: the values of subqueries for a row, which has one match. */
  final case class Values(values: Seq[Alias]) extends JoinedTable {
    override def columns: Seq[Attribute] = values.map(_.toAttribute)
    override def withColumns(columns: Seq[Attribute]): Values =
      copy(values.filter(value => columns.exists(_.exprId == value.exprId)))
  }

  /**
   * The table is looked up by key.
   *
   * @param keys expressions over columns of `plan`
   * @param isThere a column of `plan` that is never null
   */
  final case class ByKey(
      keys: Seq[Expression],
      isThere: Attribute,
      columns: Seq[Attribute],
      plan: LogicalPlan)
    extends JoinedTable {
    override def withColumns(columns: Seq[Attribute]): ByKey = copy(columns = columns)
  }
}

package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, CreateArray, CreateNamedStruct, Expression, Literal, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.CollectList
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}

/** How a table that is no stream is joined with a changelog. */
private[plan] sealed trait JoinedTable {

  /** What of a row of the table is kept as a match; without any it is only kept that there is one. */
  def columns: Seq[Attribute]

  def withColumns(columns: Seq[Attribute]): JoinedTable

  final def element: Expression = CreateNamedStruct(
    if (columns.isEmpty) Seq(Literal("is_there"), Literal(true))
    else columns.zipWithIndex.flatMap { case (c, i) => Seq(Literal(s"_$i"), c) })
}

private[plan] object JoinedTable {

  /**
   * Read whole and broadcast.
   *
   * @param keys over columns of `table`
   * @param once whether one match is as good as several
   */
  final case class Whole(
      keys: Seq[Expression],
      columns: Seq[Attribute],
      once: Boolean,
      table: LogicalPlan)
    extends JoinedTable {
    override def withColumns(columns: Seq[Attribute]): Whole = copy(columns = columns)

    /** At most one row for each value of the keys, which come first, with an array of the matches. */
    def byKey(matches: Attribute): (Seq[Attribute], LogicalPlan) = {
      val named = keys.map(Alias(_, "key")())
      val all =
        if (once) CreateArray(Seq(element)) else CollectList(element).toAggregateExpression()
      val results: Seq[NamedExpression] = named :+ Alias(all, matches.name)(matches.exprId)
      (named.map(_.toAttribute), Aggregate(keys, results, table))
    }
  }

  /** No table at all: what subqueries say of a row, for which there is one match. */
  final case class Values(values: Seq[Alias]) extends JoinedTable {
    override def columns: Seq[Attribute] = values.map(_.toAttribute)
    override def withColumns(columns: Seq[Attribute]): Values =
      copy(values.filter(value => columns.exists(_.exprId == value.exprId)))
  }

  /**
   * Asked by key.
   *
   * @param keys over columns of `plan`
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

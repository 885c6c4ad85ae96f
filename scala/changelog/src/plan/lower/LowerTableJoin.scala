package io.firesteel.changelog.plan.lower

import io.firesteel.changelog.plan.{JoinedTable, TableJoin}
import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, AttributeReference, CreateArray, EqualTo, Expression, If, Literal}
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{BROADCAST, HintInfo, Join, JoinHint, LogicalPlan, Project}
import org.apache.spark.sql.types.LongType

/** A join of a changelog with a table that is no stream, written with Spark's own nodes. */
private[lower] object LowerTableJoin {

  def apply(join: TableJoin, rows: LogicalPlan, kind: Attribute): LogicalPlan = join.table match {
    case table: JoinedTable.Whole => joinedWhole(join, table, rows)
    case table: JoinedTable.ByKey => joinedByKey(join, table, rows, kind)
    case table: JoinedTable.Values => joinedValues(join, table, rows)
  }

  private def joinedWhole(
      join: TableJoin,
      table: JoinedTable.Whole,
      rows: LogicalPlan): LogicalPlan = {
    val broadcast = JoinHint(None, Some(HintInfo(Some(BROADCAST))))
    val (keys, plan) = table.byKey(join.matches)
    Join(rows, plan, LeftOuter, equal(join.streamKeys, keys), broadcast)
  }

  private def joinedValues(
      join: TableJoin,
      table: JoinedTable.Values,
      rows: LogicalPlan): LogicalPlan = {
    val one = CreateArray(Seq(table.element))
    Project(
      rows.output :+ Alias(one, join.matches.name)(join.matches.exprId),
      Project(rows.output ++ table.values, rows))
  }

  /** A retraction looks nothing up: its matches are in state. */
  private def joinedByKey(
      join: TableJoin,
      table: JoinedTable.ByKey,
      rows: LogicalPlan,
      kind: Attribute): LogicalPlan = {
    val number = AttributeReference("number", LongType, nullable = false)()
    val goes = EqualTo(kind, Literal(RowKind.Delete))
    val keys = join.streamKeys.map(key => If(goes, Literal(null, key.dataType), key))
    val asked = Join(
      ChangelogNumbers(number, rows),
      table.plan,
      LeftOuter,
      equal(keys, table.keys),
      JoinHint.NONE)
    ChangelogMatches(
      rows.output,
      number,
      table.isThere,
      table.element,
      join.matches,
      asked)
  }

  private def equal(keys: Seq[Expression], others: Seq[Expression]): Option[Expression] =
    keys.zip(others).map { case (a, b) => EqualTo(a, b): Expression }.reduceOption(And(_, _))
}

package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.plan.{ChangelogOperator, ColumnFacts, JoinedTable, Projection, PruneColumns, TableJoin, UserText}
import io.firesteel.changelog.state.PlanVersion
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Exists, Expression, GetArrayItem, GetStructField, InSubquery, Literal, NamedExpression, Not, ScalarSubquery, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical.{BROADCAST, HintInfo}

/**
 * Subqueries over tables, above an operator with retractions. The table may have changed at the
 * time of a retraction, so state keeps the subquery's value with the row, as it keeps the matches
 * of a join with a table. A correlated value is such a join ([[JoinedValues]]).
 */
private[changelog] object KeptSubqueries {

  /** The columns that replace the subqueries, and the rows with these columns. */
  final case class Kept(columns: Seq[(Expression, Attribute)], input: ChangelogOperator) {

    /** The expression with its subqueries replaced. */
    def apply[E <: Expression](expression: E): E = expression.transform {
      case part if isOne(part) =>
        columns.find(_._1.canonicalized == part.canonicalized).get._2
    }.asInstanceOf[E]
  }

  /**
   * None if the rows are insert-only or there is no subquery: Spark computes the expression as it
   * is.
   */
  def of(
      expressions: Seq[Expression],
      input: ChangelogOperator,
      ttlMs: Long,
      version: Int): Option[Kept] = {
    val asked = expressions.flatMap(_.collect { case part if isOne(part) => part })
      // `NOT IN` counts as one subquery, so the `IN` inside it does not count again.
      .filterNot(part => expressions.exists(_.exists(isNotIn(_, part))))
      .distinctBy(_.canonicalized)
    if (asked.isEmpty || input.facts.changes.insertOnly) None
    else {
      val correlated = asked.collect { case value: ScalarSubquery if value.isCorrelated => value }
      val others = asked.filterNot(correlated.contains)
      val (joined, rows) = JoinedValues(correlated, PruneColumns(input), ttlMs, version)
      // A correlated value may be asked for in another subquery.
      def withJoined(part: Expression) = part.transform {
        case value: ScalarSubquery if value.isCorrelated =>
          joined.find(_._1.canonicalized == value.canonicalized).get._2
      }
      val values =
        others.map(part => Alias(broadcast(withJoined(part)), UserText.name(part))())
      Some(Kept(
        joined ++ others.zip(values.map(_.toAttribute)),
        if (values.isEmpty) rows else over(rows, values, others.head, ttlMs, version)
      ))
    }
  }

  private def isNotIn(expression: Expression, in: Expression): Boolean = expression match {
    case not: Not => isOne(not) && (not.child eq in)
    case _ => false
  }

  /** `NOT IN` is a subquery of its own: with nulls it differs from the negation of `IN`. */
  private def isOne(expression: Expression): Boolean = expression match {
    case not: Not => not.child.isInstanceOf[InSubquery]
    case _: InSubquery | _: Exists | _: ScalarSubquery => true
    case _ => false
  }

  /** A broadcast keeps rows in their tasks and in their order, as in joins. */
  private def broadcast(part: Expression): Expression = part.transform {
    case subquery: SubqueryExpression if !subquery.isInstanceOf[ScalarSubquery] =>
      subquery.withNewHint(Some(HintInfo(Some(BROADCAST))))
  }

  private def over(
      input: ChangelogOperator,
      values: Seq[Alias],
      asked: Expression,
      ttlMs: Long,
      version: Int): ChangelogOperator = {
    val keys = input.facts.upsertKeys
    if (keys.isEmpty) throw JoinedValues.withoutKey(asked)
    val byPlace = version >= PlanVersion.keysByPlace
    val key = ColumnFacts.smallest(keys, input.output, byPlace).get
    val join = TableJoin(
      input.output.filter(c => key.contains(c.exprId)),
      Nil,
      JoinedTable.Values(values),
      NamedExpression.newExprId,
      ttlMs,
      input)
    val only = GetArrayItem(join.matches, Literal(0), failOnError = false)
    val named = values.zipWithIndex.map { case (value, at) =>
      Alias(GetStructField(only, at), value.name)(value.exprId)
    }
    Projection((input.output: Seq[Attribute]) ++ named, join)
  }
}

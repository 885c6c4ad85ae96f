package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.plan.{ChangelogOperator, JoinedTable, Projection, PruneColumns, TableJoin, UserText}
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Exists, Expression, GetArrayItem, GetStructField, InSubquery, Literal, NamedExpression, Not, ScalarSubquery, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical.{BROADCAST, HintInfo}

/**
 * Subqueries over tables above an operator that takes rows back: the table may have changed by then, so what
 * a subquery said of a row is kept with the row, as the matches of a join with a table are.
 */
private[changelog] object KeptSubqueries {

  /** What stands for the subqueries of some expressions, and the rows that have it. */
  final case class Kept(values: Seq[Alias], input: ChangelogOperator) {

    /** An expression in terms of what is kept. */
    def apply[E <: Expression](expression: E): E = expression.transform {
      case part if isOne(part) =>
        values.find(_.child.canonicalized == broadcast(part).canonicalized).get.toAttribute
    }.asInstanceOf[E]
  }

  /** None where rows only come, or there is no subquery: Spark computes it as it is. */
  def of(expressions: Seq[Expression], input: ChangelogOperator, ttlMs: Long): Option[Kept] = {
    val asked = expressions.flatMap(_.collect { case part if isOne(part) => part })
      // Within the negation of one it stands by itself.
      .filterNot(part => expressions.exists(_.exists(isNotIn(_, part))))
      .distinctBy(_.canonicalized)
    if (asked.isEmpty || input.facts.changes.insertOnly) None
    else {
      asked.foreach(requireOneValue)
      val values = asked.map(part => Alias(broadcast(part), UserText.name(part))())
      Some(Kept(values, over(PruneColumns(input), values, asked.head, ttlMs)))
    }
  }

  private def isNotIn(expression: Expression, in: Expression): Boolean = expression match {
    case not: Not => isOne(not) && (not.child eq in)
    case _ => false
  }

  /** `NOT IN` is one by itself: of a null it says something else than the negation of `IN`. */
  private def isOne(expression: Expression): Boolean = expression match {
    case not: Not => not.child.isInstanceOf[InSubquery]
    case _: InSubquery | _: Exists | _: ScalarSubquery => true
    case _ => false
  }

  /** Spark makes a join of another one, which it may spread by the keys of the join. */
  private def requireOneValue(part: Expression): Unit = part match {
    case subquery: ScalarSubquery if subquery.isCorrelated =>
      throw ChangelogErrors.unsupportedOperator(
        UserText.of(part),
        "it has another value for each row, all of which may change",
        "write a LEFT JOIN with a table of the values for each key")
    case _ => ()
  }

  /** Rows stay where they are and in their order, as for joins. */
  private def broadcast(part: Expression): Expression = part.transform {
    case subquery: SubqueryExpression if !subquery.isInstanceOf[ScalarSubquery] =>
      subquery.withNewHint(Some(HintInfo(Some(BROADCAST))))
  }

  private def over(
      input: ChangelogOperator,
      values: Seq[Alias],
      asked: Expression,
      ttlMs: Long): ChangelogOperator = {
    val keys = input.facts.upsertKeys
    if (keys.isEmpty) {
      throw ChangelogErrors.unsupportedOperator(
        UserText.of(asked),
        "no columns of its rows identify them, by which what it says could be kept",
        "write it above a GROUP BY or a ranking, whose keys do, or below the first of them"
      )
    }
    val key = keys.minBy(k => (k.size, k.map(_.id).toSeq.sorted.mkString(" ")))
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

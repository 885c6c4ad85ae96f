package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.{CollationKey, Exists, Expression, In, InSubquery, KnownFloatingPointNormalized, NamedExpression, PrettyAttribute, SubqueryExpression}
import org.apache.spark.sql.catalyst.optimizer.NormalizeNaNAndZero
import org.apache.spark.sql.catalyst.util.toPrettySQL

/** The text of expressions for errors and plans, as close as possible to what the user wrote. */
private[changelog] object UserText {

  private val longest = 60

  /** An expression in an error. */
  def of(expression: Expression): String = readable(expression).sql

  /** The name of a computed column. */
  def name(expression: Expression): String = {
    val text = toPrettySQL(readable(expression))
    if (text.length <= longest) text else text.take(longest) + "..."
  }

  /** Gives subqueries distinct texts, and removes casts to normal forms that state needs. */
  private def readable(expression: Expression): Expression = expression.transform {
    case in: InSubquery =>
      val values = in.values match {
        case Seq(one) => one
        case several => select(several.map(_.sql).mkString("(", ", ", ")"), in)
      }
      In(values, Seq(select("SELECT ...", in)))
    case exists: Exists => select("EXISTS (SELECT ...)", exists)
    case subquery: SubqueryExpression => select("(SELECT ...)", subquery)
    case normalized: KnownFloatingPointNormalized =>
      normalized.child match {
        case value: NormalizeNaNAndZero => value.child
        case _ => normalized.child
      }
    case key: CollationKey => key.child
    case named: NamedExpression => named
  }

  private def select(text: String, of: Expression): Expression = PrettyAttribute(text, of.dataType)
}

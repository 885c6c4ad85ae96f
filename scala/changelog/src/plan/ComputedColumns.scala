package io.firesteel.changelog.plan

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, NamedExpression}

/**
 * Gives a column for an expression: the column itself, or a new one of a projection below.
 *
 * @param prefix the prefix of names of new columns; without it a name is the user's text
 */
final private[plan] class ComputedColumns(prefix: Option[String] = None) {

  private val computed = ArrayBuffer.empty[NamedExpression]

  /**
   * The attribute itself, or a new column for any other expression. Equal expressions share a
   * column.
   */
  def of(expression: Expression): Attribute = expression match {
    case attribute: Attribute => attribute
    case other =>
      computed.collectFirst {
        case alias: Alias if other.deterministic && alias.child.semanticEquals(other) =>
          alias.toAttribute
      }.getOrElse {
        val alias = Alias(other, prefix.fold(UserText.name(other))(p => s"$p${computed.size}"))()
        computed += alias
        alias.toAttribute
      }
  }

  def over(input: ChangelogOperator): ChangelogOperator =
    if (computed.isEmpty) input else Projection(input.output ++ computed, input)
}

private[plan] object ComputedColumns {

  /** The value under the name and id of the query's column. */
  def named(column: NamedExpression, value: Expression): NamedExpression = value match {
    case same: NamedExpression if same.exprId == column.exprId => same
    case other => Alias(other, column.name)(column.exprId)
  }

  /** An operator's rows under the names of the query. */
  def named(columns: Seq[(Attribute, Attribute)], operator: ChangelogOperator): ChangelogOperator =
    if (columns.forall { case (column, value) => column.exprId == value.exprId }) operator
    else Projection(columns.map { case (column, value) => named(column, value) }, operator)
}

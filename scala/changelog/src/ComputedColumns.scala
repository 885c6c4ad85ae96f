package io.firesteel.changelog

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, NamedExpression}

/** A column as it is, or computed in a projection below. */
final private[changelog] class ComputedColumns(prefix: String) {

  private val computed = ArrayBuffer.empty[NamedExpression]

  /** The attribute itself, or a new column for anything else; equal expressions share one. */
  def of(expression: Expression): Attribute = expression match {
    case attribute: Attribute => attribute
    case other =>
      computed.collectFirst {
        case alias: Alias if other.deterministic && alias.child.semanticEquals(other) =>
          alias.toAttribute
      }.getOrElse {
        val alias = Alias(other, s"$prefix${computed.size}")()
        computed += alias
        alias.toAttribute
      }
  }

  def over(input: ChangelogOperator): ChangelogOperator =
    if (computed.isEmpty) input else Projection(input.output ++ computed, input)
}

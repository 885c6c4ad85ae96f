package io.firesteel.changelog.plan

import io.firesteel.changelog.common.{Digest, TextDetails}
import io.firesteel.changelog.plan.frames.OverCall

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Cast, ExprId, Expression, ExpressionWithRandomSeed, GetStructField, InSet, Literal, NamedLambdaVariable, SortOrder, UserDefinedExpression, VariableReference}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.objects.LambdaVariable

/**
 * An expression of the analysed query as text. The text is equal at every start of the query and in
 * every version of Spark. A checkpoint keeps it to recognise a changed query.
 *
 * A column is the text of the expression that computes it, down to the source, so the text has no
 * internal names and no ids. A user's function is its name. A literal is its type and a digest,
 * because a checkpoint must not hold the values that users write into queries. What else an
 * expression has beside its children, such as the patterns of `LIKE ANY`, is a digest in braces.
 * Spark's `sql` and `toString` change between versions, so neither is used.
 *
 * @param meaning the texts of known columns; another column is its name
 * @param ofVariables whether a variable of the session is its value
 */
final private[plan] class QueryText(
    meaning: Map[ExprId, String],
    ofVariables: Boolean = false) {
  import QueryText._

  def of(expression: Expression): String = shortened(expression match {
    case alias: Alias => of(alias.child)
    case column: Attribute => meaning.getOrElse(column.exprId, column.name)
    case Literal(value, dataType) =>
      s"${dataType.catalogString}:${Digest.of(ExpressionDetails.value(value, dataType))}"
    case variable: VariableReference if ofVariables => of(variable.varDef.currentValue)
    case in: InSet =>
      val values = in.hset.map(ExpressionDetails.value(_, in.child.dataType)).toSeq.sorted
      s"${of(in.child)} in ${Digest.of(values.mkString(","))}"
    case cast: Cast => s"cast(${of(cast.child)} as ${cast.dataType.catalogString})"
    case field: GetStructField => s"${of(field.child)}.${field.ordinal}"
    case order: SortOrder =>
      s"${of(order.child)} ${order.direction.sql} ${order.nullOrdering.sql}"
    case call: AggregateExpression =>
      val distinct = if (call.isDistinct) "distinct " else ""
      distinct + of(call.aggregateFunction) + call.filter.fold("")(f => s" filter ${of(f)}")
    case any: AnyAggregate => of(any.function) + any.filter.fold("")(f => s" filter ${of(f)}")
    case call: OverCall =>
      val (function, filter) = call.of(call.arguments)
      val ends = Seq(call.frame.lower, call.frame.upper).map(of).mkString(" to ")
      s"${of(function)}${filter.fold("")(f => s" filter ${of(f)}")} " +
        s"over ${call.frame.frameType.sql} $ends"
    case function: UserDefinedExpression => s"${function.name}${all(function.children)}"
    case variable: NamedLambdaVariable => ExpressionDetails.nameOf(variable)
    // Its number is another one at each start.
    case variable: LambdaVariable => s"lambda ${variable.dataType.catalogString}"
    // Without a seed in the query Spark draws one at each start.
    case random: ExpressionWithRandomSeed =>
      s"${random.prettyName}${all(random.children.filterNot(_ eq random.seedExpression))}"
    case other =>
      val details = ExpressionDetails.of(other)
      val text = s"${other.prettyName.toLowerCase(Locale.ROOT)}${all(other.children)}"
      if (details.isEmpty) text else TextDetails.marked(text, Digest.of(details.mkString("\n")))
  })

  private def all(children: Seq[Expression]): String =
    children.map(of).mkString("(", ", ", ")")
}

private[plan] object QueryText {

  /** A longer text is kept as its digest: columns of columns double a text at each step. */
  private val longest = 500

  private def shortened(text: String): String =
    if (TextDetails.without(text).length <= longest) text else s"digest:${Digest.of(text)}"
}

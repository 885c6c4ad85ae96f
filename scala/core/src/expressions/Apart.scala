package io.firesteel.core.expressions

import org.apache.spark.sql.catalyst.expressions.{Alias, ConditionalExpression, Expression, NamedExpression, SortOrder, TaggingExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction}

/**
 * A value of which no part is computed for another expression.
 *
 * Spark computes what several expressions of one projection have in common before them, also what
 * stands behind `AND`, `OR` or the first condition of `CASE`. Then `d <> 0 AND n / d > 1` beside
 * `d <> 0 AND n / d > 2` divides by zero. An operator that computes together what Spark's plan
 * computes one by one takes such values apart.
 */
final private[firesteel] case class Apart(child: Expression)
  extends TaggingExpression
  with ConditionalExpression {

  override def alwaysEvaluatedInputs: Seq[Expression] = Nil

  override def withNewAlwaysEvaluatedInputs(inputs: Seq[Expression]): Apart = this

  override def branchGroups: Seq[Seq[Expression]] = Nil

  override protected def withNewChildInternal(newChild: Expression): Apart = copy(child = newChild)
}

private[firesteel] object Apart {

  /** The columns of one projection, taken apart where they have to be. */
  def of(columns: Seq[NamedExpression]): Seq[NamedExpression] = {
    val together = computedTogether(columns)
    columns.map {
      case alias: Alias =>
        alias.withNewChildren(Seq(together(alias.child))).asInstanceOf[NamedExpression]
      case other => other
    }
  }

  /** One expression, of which nothing that occurs twice is computed first. */
  def alone(expression: Expression): Expression = computedTogether(Seq(expression))(expression)

  /** Expressions that Spark computes together, and its plan would compute one by one. */
  def computedTogether(all: Seq[Expression]): Together =
    new Together(all.flatMap(CannotFail.hoisted))

  /** The `FILTER`s of functions, which Spark's aggregates ask one by one before the arguments. */
  def filtersOf(calls: Seq[AggregateExpression]): Together = computedTogether(calls.flatMap {
    call =>
      call.filter.fold(call.aggregateFunction.children)(Seq(_))
  })

  /** The same of groups: Spark's plan computes those of one group together. */
  def groupsTogether(groups: Seq[Seq[Expression]]): Together =
    new Together(groups.flatMap(_.flatMap(CannotFail.hoisted).distinct))

  /** @param parts all parts that can fail, each as often as it is computed */
  final class Together private[Apart] (parts: Seq[Expression]) {

    private val several: Set[Expression] =
      parts.groupBy(identity).collect { case (part, same) if same.size > 1 => part }.toSet

    /** One of the expressions, taken apart where it has to be. */
    def apply(expression: Expression): Expression =
      if (protectedParts(expression).exists(several)) Apart(expression) else expression

    /** A call of which each argument and the `FILTER` are taken apart where they have to be. */
    def inputsOf(call: AggregateExpression): AggregateExpression = call.copy(
      aggregateFunction = call.aggregateFunction.mapChildren {
        case order: SortOrder => order.mapChildren(apply(_))
        case argument => apply(argument)
      }.asInstanceOf[AggregateFunction],
      filter = call.filter.map(apply(_))
    )

    private def protectedParts(expression: Expression) =
      CannotFail.protectedParts(expression).intersect(CannotFail.hoisted(expression).toSet)
  }
}

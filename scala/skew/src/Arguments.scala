package io.firesteel.skew

import io.firesteel.core.expressions.CannotFail
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction, DeclarativeAggregate}

/**
 * Computes the arguments of aggregate functions once a row, in a projection below them.
 *
 * A function uses its argument several times (`stddev` seven times). Generated code would compute
 * it each time, such as a number read from a JSON text. The argument of a function with `FILTER` is
 * not moved: on rows that the filter leaves out it could fail, and there it costs nothing. Nor is
 * an argument that can fail, if the function does not compute it for each row.
 *
 * @param known the computed columns, by the canonical form of the argument
 */
private[skew] final class Arguments private (known: Map[Expression, Alias]) {

  def columns: Seq[NamedExpression] = known.values.toSeq.sortBy(_.exprId.id)

  /** The function, with the computed columns as its arguments. */
  def over(call: AggregateExpression): AggregateExpression =
    if (!Arguments.isOfAllRows(call)) call
    else {
      val children = call.aggregateFunction.children.map { child =>
        known.get(child.canonicalized).fold(child)(_.toAttribute)
      }
      val function = call.aggregateFunction.withNewChildren(children)
      call.copy(aggregateFunction = function.asInstanceOf[AggregateFunction])
    }
}

private[skew] object Arguments {

  /** @param always whether Spark computes all arguments for each row in any case */
  def of(calls: Seq[AggregateExpression], always: Boolean): Arguments = {
    val computed = calls.filter(isOfAllRows).map(_.aggregateFunction).flatMap {
      case function: DeclarativeAggregate =>
        function.children.filter { it =>
          isComputed(it) && (always || CannotFail.isComputedAlways(function, it))
        }
      case _ => Nil
    }.distinctBy(_.canonicalized)
    new Arguments(computed.map(argument =>
      argument.canonicalized -> Alias(argument, "argument")()).toMap)
  }

  private def isOfAllRows(call: AggregateExpression): Boolean =
    call.filter.isEmpty && call.aggregateFunction.isInstanceOf[DeclarativeAggregate]

  private def isComputed(argument: Expression): Boolean =
    !argument.isInstanceOf[Attribute] && !argument.foldable && argument.deterministic
}

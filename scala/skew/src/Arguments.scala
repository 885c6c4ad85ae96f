package io.firesteel.skew

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction, DeclarativeAggregate}

/**
 * What functions are of, computed once a row below them.
 *
 * A function names its argument as often as its arithmetic does (`stddev` seven times), and the code made
 * of it would compute it each time: a number read out of a JSON text, say. What is of some rows only, by a
 * `FILTER`, stays where it is: on the others it may end in an error, and costs nothing there.
 *
 * @param columns those that are computed
 */
private[skew] final class Arguments private (known: Map[Expression, Alias]) {

  def columns: Seq[NamedExpression] = known.values.toSeq.sortBy(_.exprId.id)

  /** A function that reads the columns. */
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

  def of(calls: Seq[AggregateExpression]): Arguments = {
    val computed = calls
      .filter(isOfAllRows)
      .flatMap(_.aggregateFunction.children)
      .filter(isComputed)
      .distinctBy(_.canonicalized)
    new Arguments(computed.map(argument =>
      argument.canonicalized -> Alias(argument, "argument")()).toMap)
  }

  private def isOfAllRows(call: AggregateExpression): Boolean =
    call.filter.isEmpty && call.aggregateFunction.isInstanceOf[DeclarativeAggregate]

  private def isComputed(argument: Expression): Boolean =
    !argument.isInstanceOf[Attribute] && !argument.foldable && argument.deterministic
}

package io.firesteel.skew

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, If, Literal, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction, DeclarativeAggregate}

/**
 * What functions are of, computed once a row below them.
 *
 * A function names its argument as often as its arithmetic does (`stddev` seven times), and the code made
 * of it would compute it each time: a number read out of a JSON text, say.
 *
 * @param columns those that are computed
 */
private[skew] final class Arguments private (known: Map[Expression, Alias]) {

  def columns: Seq[NamedExpression] = known.values.toSeq.sortBy(_.exprId.id)

  /** A function that reads the columns. */
  def over(call: AggregateExpression): AggregateExpression = {
    val children = call.aggregateFunction.children.map { child =>
      known.get(Arguments.of(call, child).canonicalized).fold(child)(_.toAttribute)
    }
    call.copy(aggregateFunction =
      call.aggregateFunction.withNewChildren(children).asInstanceOf[AggregateFunction])
  }
}

private[skew] object Arguments {

  def of(calls: Seq[AggregateExpression]): Arguments = {
    val computed = for {
      call <- calls if call.aggregateFunction.isInstanceOf[DeclarativeAggregate]
      child <- call.aggregateFunction.children if isComputed(child)
    } yield of(call, child)
    new Arguments(computed.distinctBy(_.canonicalized).map(argument =>
      argument.canonicalized -> Alias(argument, "argument")()).toMap)
  }

  /** Where a filter keeps rows out, the argument may end in an error on them. */
  private def of(call: AggregateExpression, child: Expression): Expression =
    call.filter.fold(child)(If(_, child, Literal(null, child.dataType)))

  private def isComputed(argument: Expression): Boolean =
    !argument.isInstanceOf[Attribute] && !argument.foldable && argument.deterministic
}

package io.firesteel.changelog.plan.frames

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, BoundReference, Expression, NamedExpression, SortOrder, SpecifiedWindowFrame, Unevaluable, WindowExpression, WindowSpecDefinition}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateFunction, Complete}
import org.apache.spark.sql.types.DataType

/**
 * A function over the rows around a row, such as `sum(v)` over the three rows before it. Partition
 * and order are those of its operator.
 *
 * Function and frame are no children, because Spark accepts them in its own windows only.
 *
 * @param function an aggregate function or a window function, over literals and places in
 *   `arguments`
 * @param filter a boolean place in `arguments`: the rows that count
 * @param arguments columns of the operator's input, or later their places in its rows
 */
final private[changelog] case class OverCall(
    function: Expression,
    filter: Option[Expression],
    frame: SpecifiedWindowFrame,
    arguments: Seq[Expression])
  extends Expression
  with Unevaluable {

  override def children: Seq[Expression] = arguments
  override def dataType: DataType = function.dataType
  override def nullable: Boolean = true
  override def prettyName: String = "over"

  /** The same over places in a row instead of its columns. */
  def bound(row: Seq[Attribute]): OverCall = copy(arguments = arguments.map {
    case column: Attribute =>
      BoundReference(row.indexWhere(_.exprId == column.exprId), column.dataType, nullable = true)
    case other => other
  })

  /** Function and filter over these arguments. */
  def of(arguments: Seq[Expression]): (Expression, Option[Expression]) = {
    def named(e: Expression) = e.transform { case place: BoundReference =>
      arguments(place.ordinal)
    }
    (named(function), filter.map(named))
  }

  /** Function and filter over the columns of a row in which the arguments have places. */
  def in(row: Seq[Attribute]): (Expression, Option[Expression]) = of(arguments.map {
    case place: BoundReference => row(place.ordinal)
    case other => other
  })

  /** The call as Spark evaluates it, over the columns of a row in which its arguments have places. */
  def toWindow(result: Attribute, order: Seq[SortOrder], row: Seq[Attribute]): NamedExpression = {
    val (its, where) = in(row)
    val call = its match {
      case aggregate: AggregateFunction =>
        aggregate.toAggregateExpression(isDistinct = false, where).copy(mode = Complete)
      case other => other
    }
    Alias(
      WindowExpression(call, WindowSpecDefinition(Nil, order, frame)),
      result.name)(result.exprId)
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): OverCall =
    copy(arguments = newChildren)
}

package io.firesteel.shuffle

import io.firesteel.core.expressions.{Apart, CannotFail}
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, Expression, If, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, DeclarativeAggregate, Partial}
import org.apache.spark.sql.catalyst.trees.TreePattern.PLAN_EXPRESSION
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec

/** The states of a partial aggregate for a group of one row, as a projection of that row. */
private[shuffle] object OneRowStates {

  /**
   * The aggregate's output columns in terms of its input. `None` if a function keeps its state in
   * an object, or is not deterministic.
   */
  def of(partial: BaseAggregateExec): Option[Seq[NamedExpression]] = {
    val together = Apart.filtersOf(partial.aggregateExpressions)
    val states = partial.aggregateExpressions.map(stateOf(_, together))
    val columns = partial.groupingExpressions ++ states.flatten.flatten
    val isSame = columns.size == partial.output.size && columns.zip(partial.output).forall {
      case (column, wanted) =>
        column.exprId == wanted.exprId && column.dataType == wanted.dataType
    }
    if (states.forall(_.isDefined) && isSame && columns.forall(isRepeatable)) Some(columns)
    else None
  }

  /** Whether a function reads rows (not states) and keeps its state in columns. */
  def isPossible(call: AggregateExpression): Boolean =
    call.mode == Partial && call.aggregateFunction.isInstanceOf[DeclarativeAggregate]

  private def isRepeatable(e: Expression): Boolean =
    e.deterministic && !e.containsPattern(PLAN_EXPRESSION)

  /** An argument that fails on a row would not be computed for it by `first`, for example. */
  private def readsAllRows(function: DeclarativeAggregate): Boolean =
    function.children.forall(CannotFail.isComputedAlways(function, _))

  private def stateOf(
      call: AggregateExpression,
      together: Apart.Together): Option[Seq[NamedExpression]] =
    call.aggregateFunction match {
      case function: DeclarativeAggregate if isPossible(call) && readsAllRows(function) =>
        val empty: AttributeMap[Expression] =
          AttributeMap(function.aggBufferAttributes.zip(function.initialValues))
        val one = function.updateExpressions.map(_.transform {
          case a: Attribute => empty.getOrElse(a, a)
        })
        val counted = call.filter.fold(one) { condition =>
          one.zip(function.initialValues).map { case (after, before) =>
            If(together(condition), after, before)
          }
        }
        Some(counted.zip(function.inputAggBufferAttributes).map { case (state, column) =>
          Alias(state, column.name)(exprId = column.exprId)
        })
      case _ => None
    }
}

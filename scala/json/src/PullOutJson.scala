package io.firesteel.json

import io.firesteel.core.expressions.SumOrder
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LogicalPlan, Project}

/**
 * Takes the expressions over documents out of an aggregate, into a projection of its input, if they
 * can share a scan there. These are the ones inside grouping expressions and arguments of functions.
 * Others are computed from the results, of which the input has no documents.
 */
private[json] object PullOutJson {

  def of(aggregate: Aggregate): LogicalPlan = {
    val calls = ofRows(aggregate).flatMap(JsonCalls.reached).filter { call =>
      call.reading.isRight && !call.fails && call.document.deterministic &&
      // A function may not compute its argument for each row, as `first`.
      JsonCalls.isSafe(call.document)
    }
    aggregate.child match {
      case project: Project => into(aggregate, calls, project.projectList, project.child)
      case child => into(aggregate, calls, child.output, child)
    }
  }

  /** What is computed from each row of the input. A `FILTER` decides whether arguments are. */
  private def ofRows(aggregate: Aggregate): Seq[Expression] =
    aggregate.groupingExpressions ++
      aggregate.aggregateExpressions.flatMap(_.collect { case call: AggregateExpression => call })
        .flatMap(call => call.filter.fold(call.aggregateFunction.children)(Seq(_)))

  /**
   * @param list the projection of `child` that the aggregate reads; it may compute the documents
   */
  private def into(
      aggregate: Aggregate,
      calls: Seq[JsonCall],
      list: Seq[NamedExpression],
      child: LogicalPlan): LogicalPlan = {
    val computed = AttributeMap(list.collect { case alias: Alias =>
      alias.toAttribute -> alias.child
    })
    def overChild(expression: Expression): Expression =
      expression.transform { case column: Attribute => computed.getOrElse(column, column) }
    val below = child match {
      case filter: Filter => list :+ filter.condition
      case _ => list
    }
    val documents = calls.map(call => overChild(call.document).canonicalized) ++
      below.flatMap(JsonCalls.reached).map(_.document.canonicalized)
    val shared = calls
      .filter { call =>
        val document = overChild(call.document)
        document.deterministic && !SumOrder.isIn(document) &&
        documents.count(_ == document.canonicalized) > 1
      }
      .distinctBy(_.expression.canonicalized)
    if (shared.isEmpty) aggregate
    else {
      val aliases = shared.map(call => Alias(overChild(call.expression), "json")())
      def read(expression: Expression): Expression = JsonCalls.replace(expression) { call =>
        shared.indexWhere(_.expression.semanticEquals(call.expression)) match {
          case -1 => None
          case place => Some(aliases(place).toAttribute)
        }
      }
      def result(expression: Expression): Expression = expression match {
        case call: AggregateExpression => read(call)
        case key if aggregate.groupingExpressions.exists(_.semanticEquals(key)) => read(key)
        case other => other.mapChildren(result)
      }
      val reading = aggregate.copy(
        groupingExpressions = aggregate.groupingExpressions.map(read),
        aggregateExpressions =
          aggregate.aggregateExpressions.map(result(_).asInstanceOf[NamedExpression])
      )
      val needed = reading.references
      reading.withNewChildren(
        Seq(Project(list.filter(column => needed.contains(column.toAttribute)) ++ aliases, child)))
    }
  }
}

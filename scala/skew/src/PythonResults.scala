package io.firesteel.skew

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, NamedExpression, PythonUDF}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Project}

/**
 * Python functions of an aggregate's results, which Spark's optimizer has merged into it. Spark
 * takes them out again later, but only of its own node.
 */
private[skew] object PythonResults {

  /**
   * The aggregate without them, and what puts the results together from its columns.
   *
   * Functions below an aggregate function remain.
   */
  def off(aggregate: Aggregate): (Aggregate, LogicalPlan => LogicalPlan) =
    if (!aggregate.aggregateExpressions.exists(isComputed)) (aggregate, identity)
    else {
      val columns = ArrayBuffer.empty[(Expression, NamedExpression)]
      def column(expression: Expression): Expression = {
        // What is random must not be computed once for two.
        val known = columns.collectFirst {
          case (other, named) if other.deterministic && other.semanticEquals(expression) => named
        }
        known.getOrElse {
          val named = expression match {
            case named: NamedExpression => named
            case other => Alias(other, "_column")()
          }
          columns += expression -> named
          named
        }.toAttribute
      }
      def over(expression: Expression): Expression = expression match {
        case function: AggregateExpression => column(function)
        case key if aggregate.groupingExpressions.exists(_.semanticEquals(key)) => column(key)
        case other => other.mapChildren(over)
      }
      val results = aggregate.aggregateExpressions.map {
        case alias: Alias => alias.copy(child = over(alias.child))(
            alias.exprId,
            alias.qualifier,
            alias.explicitMetadata,
            alias.nonInheritableMetadataKeys)
        case other => column(other).asInstanceOf[NamedExpression]
      }
      (aggregate.copy(aggregateExpressions = columns.map(_._2).toSeq), Project(results, _))
    }

  private def isComputed(expression: Expression): Boolean = expression match {
    case _: AggregateExpression => false
    case _: PythonUDF => true
    case other => other.children.exists(isComputed)
  }
}

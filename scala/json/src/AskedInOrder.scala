package io.firesteel.json

import io.firesteel.core.expressions.Apart

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, Expression, IsNotNull, JsonToStructs, PredicateHelper}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LogicalPlan}

/**
 * Keeps the order in which the parts of a condition beside `from_json` are asked.
 *
 * Spark generates no code for a node with `from_json`, and evaluates the parts of its conditions
 * one after another. In generated code `a IS NOT NULL` waits for the first part that reads `a`, and
 * a part that can fail would be evaluated before it. So such a check becomes an expression that
 * keeps its place.
 *
 * Source: `GeneratePredicateHelper.generatePredicateCode` of Spark.
 */
private[json] object AskedInOrder extends PredicateHelper {

  def of(filter: Filter): Filter =
    if (isIn(filter)) filter.copy(condition = kept(filter.condition)) else filter

  def of(aggregate: Aggregate): Aggregate =
    if (!isIn(aggregate)) aggregate
    else aggregate.transformExpressions { case call: AggregateExpression =>
      call.copy(filter = call.filter.map(kept))
    }.asInstanceOf[Aggregate]

  /**
   * Whether generated code would compute an argument that can fail for rows that its `FILTER`
   * drops: it computes what a function reads twice before the filter.
   */
  def failsBeforeFilter(node: LogicalPlan): Boolean = node match {
    case aggregate: Aggregate if isIn(aggregate) =>
      aggregate.aggregateExpressions.exists(_.exists {
        case call: AggregateExpression =>
          call.filter.nonEmpty && !call.aggregateFunction.children.forall(JsonCalls.isSafe)
        case _ => false
      })
    case _ => false
  }

  private def isIn(node: LogicalPlan): Boolean =
    node.expressions.exists(_.exists(_.isInstanceOf[JsonToStructs]))

  private def kept(condition: Expression): Expression = {
    val parts = splitConjunctivePredicates(condition).toList
    parts.zip(parts.tails.drop(1)).map {
      case (check @ IsNotNull(checked), later) if waits(checked, later) => Apart(check)
      case (part, _) => part
    }.reduce[Expression](And(_, _))
  }

  private def waits(checked: Expression, later: List[Expression]): Boolean = {
    val others = later.filterNot(_.isInstanceOf[IsNotNull])
    checked match {
      case _ if JsonCalls.isIn(checked) => false
      case column: Attribute =>
        !others.takeWhile(!_.references.contains(column)).forall(JsonCalls.isSafe)
      case _ => others.nonEmpty && !(checked :: others).forall(JsonCalls.isSafe)
    }
  }
}

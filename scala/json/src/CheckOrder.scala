package io.firesteel.json

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, Expression, IsNotNull, JsonToStructs}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LogicalPlan}

/**
 * Conditions whose parts Spark evaluates one after another, because it generates no code for
 * `from_json`. In generated code, `a IS NOT NULL` waits for the first part that reads `a`. A part that
 * can fail must not be evaluated before it.
 *
 * Source: `GeneratePredicateHelper.generatePredicateCode` of Spark.
 */
private[json] object CheckOrder {

  /** Whether generated code would ask a condition of the node in another order. */
  def matters(node: LogicalPlan): Boolean = node match {
    case filter: Filter => changes(filter.condition)
    case aggregate: Aggregate =>
      aggregate.aggregateExpressions.exists(_.exists {
        case call: AggregateExpression => call.filter.exists(changes)
        case _ => false
      })
    case _ => false
  }

  private def changes(condition: Expression): Boolean = {
    val parts = conjuncts(condition)
    condition.exists(_.isInstanceOf[JsonToStructs]) && parts.tails.exists {
      case IsNotNull(checked) :: later if !JsonCalls.isIn(checked) =>
        val others = later.filterNot(_.isInstanceOf[IsNotNull])
        val before = checked match {
          case column: Attribute => others.takeWhile(!_.references.contains(column))
          case _ => others
        }
        !before.forall(JsonCalls.isSafe)
      case _ => false
    }
  }

  private def conjuncts(condition: Expression): List[Expression] = condition match {
    case And(left, right) => conjuncts(left) ++ conjuncts(right)
    case other => List(other)
  }
}

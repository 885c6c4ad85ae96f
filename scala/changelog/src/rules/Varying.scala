package io.firesteel.changelog.rules

import io.firesteel.changelog.plan.parse.Repeatable
import io.firesteel.changelog.sql.Arrival
import io.firesteel.changelog.state.PlanVersion

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * Values that differ each time, such as those of `uuid()`.
 *
 * @param ofTables whether those of a table beside a stream are found, too
 * @param again whether those are found, too, that differ where a micro-batch is repeated, and that
 *   Spark takes for deterministic
 */
final private[rules] class Varying(ofTables: Boolean, again: Boolean) {

  /** An expression of the node, or below it where nothing looks, whose value may differ. */
  def of(plan: LogicalPlan): Option[Expression] =
    if (SharableNodes.isWhole(plan)) below(plan)
    else plan.expressions.find(differs).orElse {
      if (ofTables) plan.children.filterNot(_.isStreaming).flatMap(below).headOption else None
    }

  /** Whether such values arise at the node. What is computed of them is the same each time. */
  def isAt(plan: LogicalPlan): Boolean = of(plan).nonEmpty

  private def below(plan: LogicalPlan): Option[Expression] =
    plan.collect { case node => node.expressions.find(differs) }.flatten.headOption

  /** Aggregates such as `first` depend on the order of rows alone, which is that of the source. */
  private def differs(expression: Expression): Boolean = expression match {
    case deterministic if deterministic.deterministic =>
      again && Repeatable.differsAgain(deterministic)
    case function: AggregateFunction => function.children.exists(differs)
    case _: Arrival => false
    case other if other.children.forall(_.deterministic) => true
    case other => other.children.exists(differs)
  }
}

private[rules] object Varying {
  def apply(version: Int): Varying =
    new Varying(version >= PlanVersion.valuesOfTables, version >= PlanVersion.repeatedValues)
}

package io.firesteel.changelog.plan.lower

import io.firesteel.changelog.plan.TableRows
import io.firesteel.changelog.state.PlanVersion
import io.firesteel.core.plans.ReadByKey

import org.apache.spark.sql.catalyst.expressions.{And, Cast, Expression, ListQuery, Literal, Not, Or, PredicateHelper, TaggingExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Expand, Filter, Join, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.types.{BooleanType, DateType, StringType, TimestampNTZType, TimestampType}

/**
 * Hides the time and constants in conditions above operators with state from Spark's optimizer. Of a
 * condition that is false for a whole micro-batch, as `hour(now()) >= 8`, it would leave out all that is
 * below, and with it operators whose state each micro-batch must write.
 */
private[lower] object ConstantConditions extends PredicateHelper {

  def kept(plan: LogicalPlan): LogicalPlan = plan match {
    case _: TableRows => plan
    case _ if ReadByKey.isBelow(plan) => plan
    case other => ownOf(other).mapChildren(kept)
  }

  /**
   * A condition of a filter or join above a plan. In a checkpoint of an earlier version constants may
   * have left out operators since the first micro-batch: they stay so.
   */
  def above(plan: LogicalPlan, condition: Expression, version: Int): Expression =
    if (!plan.exists(_.isInstanceOf[StatefulNode])) condition
    else {
      val timed = timesOf(condition)
      if (version < PlanVersion.hiddenConstants) timed else conditionOf(timed)
    }

  private def ownOf(node: LogicalPlan): LogicalPlan = {
    val timed = node match {
      case _: Project | _: Filter | _: Join | _: Aggregate | _: Expand =>
        node.mapExpressions(timesOf)
      case other => other
    }
    timed match {
      case filter: Filter => filter.copy(condition = conditionOf(filter.condition))
      case join: Join => join.copy(condition = join.condition.map(conditionOf))
      case other => other
    }
  }

  private def timesOf(expression: Expression): Expression =
    if (isTime(expression)) AskedForRows(expression) else expression.mapChildren(timesOf)

  /** A constant of the micro-batch, of which another micro-batch has another value. */
  private def isTime(expression: Expression): Boolean = expression.foldable && expression.exists {
    case cast: Cast =>
      Seq(DateType, TimestampType, TimestampNTZType).contains(cast.dataType) &&
      cast.child.dataType.isInstanceOf[StringType]
    case other => other.containsPattern(CURRENT_LIKE)
  }

  /** A restart may have other constants. */
  private def conditionOf(condition: Expression): Expression =
    splitConjunctivePredicates(condition).map(partOf).reduce[Expression](And(_, _))

  /** A part that must hold; of a constant Spark could know that it does not. */
  private def partOf(part: Expression): Expression = part match {
    case literal: Literal => AskedForRows(literal)
    case _: And | _: Or | _: Not => part.mapChildren(partOf)
    case other => valueOf(other)
  }

  private def valueOf(value: Expression): Expression = value match {
    case _: AskedForRows | _: ListQuery => value
    case literal: Literal => if (literal.value == null) AskedForRows(literal) else literal
    case constant
        if constant.references.isEmpty &&
          (constant.dataType == BooleanType || constant.foldable && constant.nullable) =>
      AskedForRows(constant)
    case _: And | _: Or | _: Not => partOf(value)
    case other => other.mapChildren(valueOf)
  }
}

/** A value that is computed for each row, whatever Spark knows of it. */
final private[lower] case class AskedForRows(child: Expression) extends TaggingExpression {

  override def foldable: Boolean = false

  override protected def withNewChildInternal(newChild: Expression): AskedForRows =
    copy(child = newChild)
}

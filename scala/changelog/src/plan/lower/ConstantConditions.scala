package io.firesteel.changelog.plan.lower

import org.apache.spark.sql.catalyst.expressions.{And, Expression, PredicateHelper, TaggingExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LogicalPlan}
import org.apache.spark.sql.types.BooleanType

/**
 * Conditions above closed windows that may be false for a whole micro-batch, as `hour(current_timestamp())
 * >= 8`. Spark would leave out all that is below, and with it the operators whose state each
 * micro-batch must write. So they are written as expressions that Spark does not know.
 */
private[lower] object ConstantConditions extends PredicateHelper {

  def kept(plan: LogicalPlan): LogicalPlan = plan.transform {
    case filter: Filter => filter.copy(condition = kept(filter.condition))
    case join: Join => join.copy(condition = join.condition.map(kept))
  }

  private def kept(condition: Expression): Expression =
    splitConjunctivePredicates(condition)
      .map(part => if (mayBeConstant(part)) AskedForRows(part) else part).reduce[Expression](And(
        _,
        _))

  /** Whether a part of it does not depend on rows and is a condition, or may be null. */
  private def mayBeConstant(condition: Expression): Boolean = condition.exists { part =>
    part.references.isEmpty && (part.dataType == BooleanType || (part.foldable && part.nullable))
  }
}

/** A condition that is computed for each row, whatever Spark knows of it. */
final private[lower] case class AskedForRows(child: Expression) extends TaggingExpression {

  override def foldable: Boolean = false

  override protected def withNewChildInternal(newChild: Expression): AskedForRows =
    copy(child = newChild)
}

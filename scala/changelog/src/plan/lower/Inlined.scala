package io.firesteel.changelog.plan.lower

import org.apache.spark.sql.catalyst.expressions.{CommonExpressionRef, Expression, RuntimeReplaceable, With}

/**
 * A condition with all of its values in place. `x BETWEEN a AND b` names the value of `x`, and Spark's
 * optimizer computes it in a projection below the operator. A join of ours reads the columns of its
 * sides only.
 */
private[lower] object Inlined {

  def apply(expression: Expression): Expression = expression match {
    case replaced: RuntimeReplaceable => apply(replaced.replacement)
    case named: With =>
      val values = named.defs.map(value => value.id -> apply(value.child)).toMap
      apply(named.child).transform {
        case value: CommonExpressionRef if values.contains(value.id) => values(value.id)
      }
    case other => other.mapChildren(apply)
  }
}

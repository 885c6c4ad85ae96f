package io.firesteel.core.plans

import org.apache.spark.sql.catalyst.expressions.{Alias, Expression}
import org.apache.spark.sql.catalyst.expressions.aggregate.Average
import org.apache.spark.sql.catalyst.optimizer.DecimalAggregates
import org.apache.spark.sql.catalyst.plans.logical.{OneRowRelation, Project}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DecimalType

/**
 * Averages of short decimals as Spark's optimizer rewrites them: it divides doubles, which are
 * rounded to the result's type. An exact division may be rounded to another last digit.
 */
private[firesteel] object DecimalAverages {

  /** Whether an average of decimals is in it. */
  def areIn(expression: Expression): Boolean = expression.exists {
    case average: Average => average.child.dataType.isInstanceOf[DecimalType]
    case _ => false
  }

  /** Whether the user keeps Spark from doing so. */
  private def isExcluded: Boolean =
    SQLConf.get.optimizerExcludedRules.toSeq.flatMap(_.split(',')).map(_.trim)
      .contains(DecimalAggregates.ruleName)

  /** A call of one function, or one with `OVER`, as Spark's own rule rewrites it. */
  def rewritten(call: Expression): Expression =
    if (isExcluded) call else always(call)

  /** The same whatever rules the user excludes: a stream is read in one way at each start. */
  def always(call: Expression): Expression =
    if (!areIn(call)) call
    else DecimalAggregates(Project(Seq(Alias(call, "value")()), OneRowRelation()))
      .expressions.head.children.head
}

package io.firesteel.rank

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

/**
 * Removes the partial half if no exchange is between the two halves. The input is then already
 * clustered by key, and one pass is enough.
 *
 * {{{
 *   TopN                      TopN
 *   +- PartialTopN      =>    +- child
 *      +- child
 * }}}
 */
object RemoveRedundantPartialTopN extends ColumnarRule {

  override def preColumnarTransitions: Rule[SparkPlan] = Removal

  private object Removal extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
      case topN: TopNExec =>
        topN.child match {
          case partial: PartialTopNExec => topN.copy(child = partial.child)
          case _ => topN
        }
    }
  }
}

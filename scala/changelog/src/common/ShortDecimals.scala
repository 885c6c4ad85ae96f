package io.firesteel.changelog.common

import io.firesteel.core.plans.DecimalAverages.{always, areIn}

import org.apache.spark.sql.catalyst.expressions.{Alias, NamedExpression, WindowExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, AnalysisHelper, LogicalPlan, Project, Window}

/** The averages of a stream as Spark's optimizer rewrites those of a batch query. */
private[changelog] object ShortDecimals {

  def apply(plan: LogicalPlan): LogicalPlan = AnalysisHelper.allowInvokingTransformsInAnalyzer {
    plan.transformUp {
      case aggregate: Aggregate if aggregate.isStreaming && aggregate.expressions.exists(areIn) =>
        aggregate.transformExpressionsDown { case call: AggregateExpression => always(call) }
      case window: Window if window.isStreaming && window.windowExpressions.exists(areIn) =>
        overResults(window)
    }
  }

  /** A window has its functions as they are; what is computed of their results is above it. */
  private def overResults(window: Window): LogicalPlan = {
    val (functions, columns) = window.windowExpressions.map {
      case column @ Alias(call: WindowExpression, name) if areIn(call) =>
        var own: Option[NamedExpression] = None
        val value = always(call).transformDown { case changed: WindowExpression =>
          val result = Alias(changed, name)()
          own = Some(result)
          result.toAttribute
        }
        val named =
          Alias(value, name)(column.exprId, column.qualifier, column.explicitMetadata)
        (own.get, named: NamedExpression)
      case other => (other, other.toAttribute: NamedExpression)
    }.unzip
    Project(window.child.output ++ columns, window.copy(windowExpressions = functions))
  }
}

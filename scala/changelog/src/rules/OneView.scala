package io.firesteel.changelog.rules

import io.firesteel.changelog.rules.SharableNodes.withoutNames

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Alias, ExpressionWithRandomSeed}
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, LogicalPlan, Project, View}

/**
 * Lets queries that read one view read one analysis of it. Spark analyses the text of a view anew for
 * each query, and gives functions such as `uuid()` another seed each time.
 */
private[rules] object OneView {

  def apply(queries: Seq[LogicalPlan]): Seq[LogicalPlan] = {
    val first = mutable.HashMap.empty[Any, View]
    queries.map { query =>
      val own = mutable.HashMap.empty[Any, View]
      val reading = AnalysisHelper.allowInvokingTransformsInAnalyzer {
        query.transformDown {
          case view: View if view.isStreaming =>
            val key = (view.desc.identifier, view.desc.viewText, view.isTempView)
            val isFirst = !own.contains(key)
            if (isFirst) own(key) = view
            first.get(key) match {
              // A query that reads it twice has one analysis of its own as well.
              case Some(other) if isFirst && differInSeeds(other, view) =>
                Project(
                  other.child.output.zip(view.output).map { case (has, wanted) =>
                    Alias(has, wanted.name)(
                      wanted.exprId,
                      explicitMetadata = Some(wanted.metadata))
                  },
                  other.child)
              case _ => view
            }
        }
      }
      own.foreach { case (key, view) => if (!first.contains(key)) first(key) = view }
      reading
    }
  }

  /** Whether two views are the same but for the seeds of their functions. */
  private def differInSeeds(one: View, other: View): Boolean =
    one.canonicalized != other.canonicalized && withoutSeeds(one) == withoutSeeds(other)

  private def withoutSeeds(view: View): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      withoutNames(view).transformUp { case plan =>
        plan.transformExpressionsUp { case random: ExpressionWithRandomSeed =>
          random.withNewSeed(0L)
        }
      }
    }.canonicalized
}

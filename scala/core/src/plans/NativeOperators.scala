package io.firesteel.core.plans

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.EnsureRequirements
import org.apache.spark.sql.firesteel.{columnarRules, physicalPlan}

/**
 * What other extensions make of Spark's operators, such as the native ones of DataFusion Comet. They
 * do so by columnar rules, after all else is planned; a strategy that has something faster than
 * Spark's operator, but not than theirs, asks here first.
 */
object NativeOperators {

  /**
   * Spark's plan for `plan` as the columnar rules of others leave it.
   *
   * @return none if there are no such rules, or they fail for this plan alone
   */
  def replacing(session: SparkSession, plan: LogicalPlan): Option[SparkPlan] =
    others(session) match {
      case Seq() => None
      case rules =>
        Try {
          val planned = EnsureRequirements()(physicalPlan(session, plan))
          rules.foldLeft(planned)((above, rule) => rule(above))
        }.toOption
    }

  /** Whether an operator is another extension's, whose rows are in columns. */
  def isOthers(plan: SparkPlan): Boolean =
    plan.supportsColumnar && !own.exists(plan.getClass.getName.startsWith)

  private def others(session: SparkSession): Seq[Rule[SparkPlan]] =
    columnarRules(session)
      .filterNot(rule => own.exists(rule.getClass.getName.startsWith))
      .map(_.preColumnarTransitions)

  private val own = Seq("io.firesteel.", "org.apache.spark.sql.execution.")
}

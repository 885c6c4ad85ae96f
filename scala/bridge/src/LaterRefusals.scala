package org.apache.spark.sql.firesteel

import scala.util.Try

import org.apache.spark.sql.{ExperimentalMethods, SparkSession, classic}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, AnalysisHelper, Deduplicate, DeduplicateWithinWatermark, Distinct, Join, LogicalPlan}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.errors.QueryCompilationErrors
import org.apache.spark.sql.execution.SparkOptimizer

/**
 * What Spark's check of streaming queries lets pass, and its planner or its state store refuses in the
 * first micro-batch.
 */
object LaterRefusals {

  /** Why Spark does not run a query; none if it does. */
  def of(session: SparkSession, query: LogicalPlan): Option[String] =
    if (!query.exists(node => isOfStreams(node) || keys.isDefinedAt(node))) None
    else Try(optimized(session, query)).toOption.flatMap(_.collectFirst(keys.orElse(joins)))

  private val keys: PartialFunction[LogicalPlan, String] = {
    case its: Aggregate if its.isStreaming && areUnstable(its.groupingExpressions) => collated
    case its: Distinct if its.isStreaming && areUnstable(its.output) => collated
    case its: Deduplicate if its.isStreaming && areUnstable(its.keys) => collated
    case its: DeduplicateWithinWatermark if its.isStreaming && areUnstable(its.keys) => collated
  }

  private val joins: PartialFunction[LogicalPlan, String] = Function.unlift {
    case join: Join if isOfStreams(join) =>
      ExtractEquiJoinKeys.unapply(join) match {
        case None =>
          Some(QueryCompilationErrors.streamJoinStreamWithoutEqualityPredicateUnsupportedError(
            join).getMessage.linesIterator.next().stripSuffix(";"))
        case Some(its) => Option.when(areUnstable(its._2))(collated)
      }
    case _ => None
  }

  private def collated = "Text of a collation is no key of Spark's own state"

  /** Whether equal values may have different bytes. */
  private def areUnstable(keys: Seq[Expression]): Boolean =
    keys.exists(key => !UnsafeRowUtils.isBinaryStable(key.dataType))

  private def isOfStreams(plan: LogicalPlan): Boolean = plan match {
    case join: Join => join.children.forall(_.isStreaming)
    case _ => false
  }

  /** By Spark's own rules: those of extensions may count or tell what they do. */
  private def optimized(session: SparkSession, query: LogicalPlan): LogicalPlan = {
    val state = session.asInstanceOf[classic.SparkSession].sessionState
    val own = new SparkOptimizer(state.catalogManager, state.catalog, new ExperimentalMethods)
    AnalysisHelper.allowInvokingTransformsInAnalyzer(own.execute(query))
  }
}

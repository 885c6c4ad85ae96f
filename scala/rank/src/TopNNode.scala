package io.firesteel.rank

import io.firesteel.core.decide.FiredOperator
import org.apache.spark.sql.catalyst.expressions.{Expression, SortOrder}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/** The common part of both operators of a top-n. */
private[rank] trait TopNNode extends UnaryExecNode with FiredOperator { self: SparkPlan =>

  def partitionBy: Seq[Expression]
  def orderBy: Seq[SortOrder]
  def bound: RankBound

  private[rank] def keys: TopNKeys = TopNKeys(partitionBy, orderBy, bound, child.output)

  /** Whether the input is sorted already, so that counting is enough and no heaps are needed. */
  final def sortedInput: Boolean =
    SortOrder.orderingSatisfies(child.outputOrdering, keys.sorted)

  override def firedRule: String = PlanTopN.RULE

  override def firedMessage: String =
    s"$bound per key in ${if (sortedInput) "sorted input" else "bounded heaps"}, " +
      "no sort of the input"

  override def firedValues: Map[String, String] = Map(
    "function" -> bound.function.sqlName,
    "n" -> bound.limit.toString,
    "partitionBy" -> partitionBy.map(_.sql).mkString(", "),
    "orderBy" -> orderBy.map(_.sql).mkString(", ")
  )
}

package io.firesteel.shuffle

import io.firesteel.core.decide.FiredOperator
import org.apache.spark.sql.catalyst.expressions.SortOrder
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.SparkPlan

/** Declares the order of its input's rows, which Spark does not see. It changes no row. */
private[shuffle] final case class InOrderExec(order: Seq[SortOrder], child: SparkPlan)
  extends PassesRows
  with FiredOperator {

  override def firedRule: String = RemoveRedundantSort.name
  override def firedMessage: String = "the rows are already in the order of the sort"
  override def firedValues: Map[String, String] = Map("order" -> order.map(_.sql).mkString(", "))

  override def outputOrdering: Seq[SortOrder] = order
  override def outputPartitioning: Partitioning = child.outputPartitioning

  override protected def withNewChildInternal(newChild: SparkPlan): InOrderExec =
    copy(child = newChild)
}

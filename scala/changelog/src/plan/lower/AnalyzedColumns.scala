package io.firesteel.changelog.plan.lower

import org.apache.spark.sql.catalyst.expressions.{Attribute, ExprId, ExpressionSet}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/**
 * The input of an operator with state, with the nulls that the query allows. The optimizer may find
 * that a column has no nulls in the rows of one micro-batch, as where one input of a union is idle.
 * Rows in state may have some, so it must not take `IS NULL` of them for false.
 *
 * It is no operator when the plan runs.
 *
 * @param nullable the columns that may be null in some micro-batch
 */
final private[changelog] case class AnalyzedColumns(nullable: Set[ExprId], child: LogicalPlan)
  extends UnaryNode {
  override def output: Seq[Attribute] =
    child.output.map(c => if (nullable(c.exprId)) c.withNullability(true) else c)
  override lazy val validConstraints: ExpressionSet = ExpressionSet()
  override def maxRows: Option[Long] = None
  override protected def withNewChildInternal(newChild: LogicalPlan): AnalyzedColumns =
    copy(child = newChild)
}

private[changelog] object AnalyzedColumns {

  def of(input: LogicalPlan): LogicalPlan = {
    val nullable = input.output.filter(_.nullable).map(_.exprId).toSet
    if (nullable.isEmpty) input else AnalyzedColumns(nullable, input)
  }
}

package io.firesteel.changelog.plan.lower

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, ExpressionSet}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/**
 * The input of an operator with state, with the nulls that the query allows. The optimizer may find
 * that a column has no nulls in the rows of one micro-batch, as where one input of a union is idle.
 * Rows in state may have some, so it must not take `IS NULL` of them for false.
 *
 * It is no operator when the plan runs.
 *
 * @param nullable the columns that may be null in some micro-batch, as attributes: the optimizer gives
 *   columns other ids
 */
final private[changelog] case class AnalyzedColumns(nullable: Seq[Attribute], child: LogicalPlan)
  extends UnaryNode {
  override def output: Seq[Attribute] = child.output.map { column =>
    if (nullable.exists(_.exprId == column.exprId)) column.withNullability(true) else column
  }

  /** It reads nothing, so columns are pruned as without it. */
  @transient override lazy val references: AttributeSet = AttributeSet.empty
  override lazy val validConstraints: ExpressionSet = ExpressionSet()
  override def maxRows: Option[Long] = None
  override protected def withNewChildInternal(newChild: LogicalPlan): AnalyzedColumns =
    copy(child = newChild)
}

private[changelog] object AnalyzedColumns {

  def of(input: LogicalPlan): LogicalPlan = {
    val nullable = input.output.filter(_.nullable)
    if (nullable.isEmpty) input else AnalyzedColumns(nullable, input)
  }
}

package io.firesteel.changelog.plan.parse

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSet, Expression, Literal, NamedExpression}
import org.apache.spark.sql.catalyst.optimizer.OptimizeOneRowRelationSubquery
import org.apache.spark.sql.catalyst.plans.{Inner, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, Filter, Generate, LateralJoin, LocalRelation, LogicalPlan, Project}

/**
 * `LATERAL explode(...)`: the rows that a function makes of each row, as with `LATERAL VIEW`. Spark's
 * optimizer writes them as the same `Generate`, but sees a query after this room.
 *
 * @param pads whether `LEFT JOIN ... ON true` has a row where the function makes none, see
 *   `PlanVersion.paddedLateral`. Without `ON` it has none, in Spark too.
 */
final private[parse] class LateralRows(pads: Boolean) {

  def unapply(join: LateralJoin): Option[LogicalPlan] = {
    // Spark's rule sees the node alone: it would rewrite other subqueries below it.
    val left = LocalRelation(join.left.output, Nil, isStreaming = true)
    val condition = join.condition.filterNot(_ == Literal.TrueLiteral)
    if (condition.nonEmpty && join.joinType != Inner) None
    else AnalysisHelper.allowInvokingTransformsInAnalyzer {
      val alone = join.copy(left = left, condition = None)
      val asked = OptimizeOneRowRelationSubquery(alone) match {
        case _: LateralJoin => None
        case rows if pads && join.joinType == LeftOuter && join.condition.nonEmpty =>
          padded(rows, left)
        case rows => Some(rows)
      }
      asked.map { rows =>
        val whole = rows.transform { case leaf if leaf eq left => join.left }
        condition.fold(whole)(Filter(_, whole))
      }
    }
  }

  /** None if the query computes more of an element than its columns. */
  private def padded(rows: LogicalPlan, left: LogicalPlan): Option[LogicalPlan] = rows match {
    case made: Generate => Some(made.copy(outer = true))
    case Project(columns, made: Generate) =>
      val its = made.copy(outer = true)
      def isColumn(column: NamedExpression) = left.outputSet.contains(column) || (column match {
        case Alias(element: Attribute, _) => AttributeSet(made.generatorOutput).contains(element)
        case element => AttributeSet(made.generatorOutput).contains(element)
      })
      def nullable[E <: Expression](column: E) = column.transform {
        case element: Attribute if made.generatorOutput.exists(_.exprId == element.exprId) =>
          element.withNullability(true)
      }.asInstanceOf[E]
      Option.when(columns.forall(isColumn))(Project(columns.map(nullable(_)), its))
    case one if !one.exists(_.isInstanceOf[Generate]) => Some(one)
    case _ => None
  }
}

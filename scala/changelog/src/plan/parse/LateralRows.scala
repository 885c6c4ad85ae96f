package io.firesteel.changelog.plan.parse

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.optimizer.OptimizeOneRowRelationSubquery
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, Filter, LateralJoin, LocalRelation, LogicalPlan}

/**
 * `LATERAL explode(...)`: the rows that a function makes of each row, as with `LATERAL VIEW`. Spark's
 * optimizer writes them as the same `Generate`, but sees a query after this room.
 */
private[parse] object LateralRows {

  def unapply(join: LateralJoin): Option[LogicalPlan] = {
    // Spark's rule sees the node alone: it would rewrite other subqueries below it.
    val left = LocalRelation(join.left.output, Nil, isStreaming = true)
    val condition = join.condition.filterNot(_ == Literal.TrueLiteral)
    if (condition.nonEmpty && join.joinType != Inner) None
    else AnalysisHelper.allowInvokingTransformsInAnalyzer {
      OptimizeOneRowRelationSubquery(join.copy(left = left, condition = None)) match {
        case _: LateralJoin => None
        case rows =>
          val whole = rows.transform { case leaf if leaf eq left => join.left }
          Some(condition.fold(whole)(Filter(_, whole)))
      }
    }
  }
}

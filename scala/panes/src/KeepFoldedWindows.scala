package io.firesteel.panes

import io.firesteel.core.decide.Decline
import io.firesteel.core.plans.DynamicPruning
import io.firesteel.core.windows.PaneQuery
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Attribute, Exists, ExprId, Expression, ListQuery, PythonUDF}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.firesteel.windowed
import org.apache.spark.sql.internal.SQLConf

/**
 * Keeps folded windows if [[PlanPanes]] will fire, and replaces them by Spark's copies in every
 * other query. It runs after the optimizer has simplified the plan.
 */
final class KeepFoldedWindows(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    // This rule has already handled subqueries that became part of the plan.
    val done = plan.collect { case WindowCopies(child, _) => columnsIn(child) }.flatten
    if (columnsIn(plan).forall(done.contains)) plan
    else {
      val kept =
        plan.collect {
          case SlidingAggregate(query) if isKept(query) => query.copied.attribute.exprId
        }.filterNot(pruned(plan))
      plan.transformUp {
        case CopiedWindows(folded: WindowGenerate) if !done.contains(folded.attribute.exprId) =>
          if (kept.contains(folded.attribute.exprId))
            WindowCopies(folded.generate, folded.windows.copies)
          else unfolded(folded)
      }
    }
  }

  private def columnsIn(plan: LogicalPlan): Seq[ExprId] = plan.collect {
    case CopiedWindows(folded: WindowGenerate) => folded.attribute.exprId
  }

  /**
   * Windows of rows that Spark may later filter by the other input of a join. The filter passes Spark's
   * own copies, which panes may replace, too.
   */
  private def pruned(plan: LogicalPlan): Set[ExprId] =
    plan.collect { case join: Join => DynamicPruning.inputsOf(join) }.flatten.flatMap(
      columnsIn).toSet

  private def isKept(query: PaneQuery): Boolean =
    Decline.switchedOff("panes", PanesConf.ENABLED).isEmpty && PlanPanes.objection(query).isEmpty &&
      !(query.aggregate.expressions ++ query.expressionsBetween).exists(_.exists(becomesNode))

  /** Whether Spark later replaces the expression by a node between window and aggregate. */
  private def becomesNode(e: Expression): Boolean = e match {
    case _: PythonUDF | _: ListQuery | _: Exists => true
    case _ => false
  }

  /**
   * Spark's own expansion of the same windows. The analyser sees a relation with the same columns
   * instead of the rows, which are analysed already.
   */
  private def unfolded(folded: WindowGenerate): LogicalPlan = {
    val asThen = SQLConf.get.clone()
    asThen.setConf(SQLConf.ANSI_ENABLED, folded.isAnsi)
    SQLConf.withExistingConf(asThen) {
      val (theirs, copies) = windowed(
        folded.windows.asSparks,
        LocalRelation(folded.child.output))
      // Upwards, so that the replaced rows are not visited.
      session.sessionState.analyzer.execute(copies).transformUp {
        case _: LocalRelation => folded.child
        case node =>
          node.transformExpressions {
            case a: Attribute if a.exprId == theirs.exprId =>
              a.withExprId(folded.attribute.exprId)
          }
      }
    }
  }
}

package io.firesteel.panes

import io.firesteel.core.decide.Decline
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.TimeWindowResolution
import org.apache.spark.sql.catalyst.expressions.{Attribute, Exists, ExprId, Expression, ListQuery, PythonUDF}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.internal.SQLConf

/**
 * Keeps folded windows where panes are going to be planned, and gives Spark's copies to every other
 * query. It runs when the optimizer has simplified the plan.
 */
final class KeepFoldedWindows(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    // Subqueries that became part of the plan have been through here.
    val done = plan.collect { case WindowCopies(child, _) => columnsIn(child) }.flatten
    if (columnsIn(plan).forall(done.contains)) plan
    else {
      val kept =
        plan.collect { case PaneQuery(query) if isKept(query) => query.copied.attribute.exprId }
      plan.transformUp {
        case CopiedRows(folded: WindowGenerate) if !done.contains(folded.attribute.exprId) =>
          if (kept.contains(folded.attribute.exprId))
            WindowCopies(folded.generate, folded.windows.copies)
          else unfolded(folded)
      }
    }
  }

  private def columnsIn(plan: LogicalPlan): Seq[ExprId] = plan.collect {
    case CopiedRows(folded: WindowGenerate) => folded.attribute.exprId
  }

  private def isKept(query: PaneQuery): Boolean =
    Decline.switchedOff("panes", PanesConf.ENABLED).isEmpty && PlanPanes.objection(query).isEmpty &&
      !(query.aggregate.expressions ++ query.expressionsBetween).exists(_.exists(becomesNode))

  /** Whether Spark takes an expression out later, and puts a node for it between window and aggregate. */
  private def becomesNode(e: Expression): Boolean = e match {
    case _: PythonUDF | _: ListQuery | _: Exists => true
    case _ => false
  }

  /** What Spark's analyser makes of the same windows, over columns alone: the rows are analysed already. */
  private def unfolded(folded: WindowGenerate): LogicalPlan = {
    val asThen = SQLConf.get.clone()
    asThen.setConf(SQLConf.ANSI_ENABLED, folded.isAnsi)
    SQLConf.withExistingConf(asThen) {
      val (theirs, copies) = TimeWindowResolution.buildTimeWindowRewrite(
        folded.windows.asSparks,
        LocalRelation(folded.child.output))
      // From below: what takes the place of the columns is not looked into.
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

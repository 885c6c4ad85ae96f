package io.firesteel.panes

import io.firesteel.core.Decline
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.TimeWindowResolution
import org.apache.spark.sql.catalyst.expressions.{Attribute, PythonUDF, TimeWindow}
import org.apache.spark.sql.catalyst.plans.logical.{Generate, LocalRelation, LogicalPlan, Statistics, UnaryNode}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf

/**
 * Keeps folded windows where panes are going to be planned, and gives Spark's copies to every other
 * query. It runs when the optimizer has simplified the plan.
 */
final class KeepFoldedWindows(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(isFolded) || plan.exists(_.isInstanceOf[WindowCopies])) plan
    else {
      val kept =
        plan.collect { case PaneQuery(query) if isKept(query) => query.copied.attribute.exprId }
      plan.transformUp {
        case generate @ Generate(windows: WindowsOf, _, _, _, Seq(column), _) =>
          if (kept.contains(column.exprId)) WindowCopies(generate, windows.copies)
          else unfolded(generate, windows, column)
      }
    }

  private def isFolded(plan: LogicalPlan): Boolean = plan match {
    case Generate(_: WindowsOf, _, _, _, _, _) => true
    case _ => false
  }

  /** Functions in Python are taken out of the aggregate later, by a node that will stand between. */
  private def isKept(query: PaneQuery): Boolean =
    Decline.switchedOff("panes", PanesConf.ENABLED).isEmpty && PlanPanes.objection(query).isEmpty &&
      !query.aggregate.expressions.exists(_.exists(_.isInstanceOf[PythonUDF]))

  /** What Spark's analyser makes of the same windows, over columns alone: the rows are analysed already. */
  private def unfolded(generate: Generate, windows: WindowsOf, column: Attribute): LogicalPlan = {
    val asThen = SQLConf.get.clone()
    asThen.setConf(SQLConf.ANSI_ENABLED, windows.isAnsi)
    SQLConf.withExistingConf(asThen) {
      val columns = LocalRelation(generate.child.output)
      val (theirs, copies) = TimeWindowResolution.buildTimeWindowRewrite(
        TimeWindow(windows.time, windows.size, windows.slide, windows.start),
        columns)
      session.sessionState.analyzer.execute(copies).transform {
        case _: LocalRelation => generate.child
        case node =>
          node.transformExpressions {
            case a: Attribute if a.exprId == theirs.exprId => a.withExprId(column.exprId)
          }
      }
    }
  }
}

/** Says how many rows folded windows make of each, which Spark knows of its own copies alone. */
final private[panes] case class WindowCopies(child: LogicalPlan, copies: Int) extends UnaryNode {

  override def output: Seq[Attribute] = child.output

  override def stats: Statistics = Statistics(child.stats.sizeInBytes * copies)

  override protected def withNewChildInternal(newChild: LogicalPlan): WindowCopies =
    copy(child = newChild)
}

/** Runs folded windows row by row, where Spark has made panes impossible since they were kept. */
object PlanWindowCopies extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case WindowCopies(windows, _) => Seq(planLater(windows))
    case _ => Nil
  }
}

package io.firesteel.panes

import io.firesteel.core.Decline
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.TimeWindowResolution
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeMap, Exists, ExprId, Expression, ListQuery, PythonUDF, TimeWindow}
import org.apache.spark.sql.catalyst.plans.logical.{Generate, LocalRelation, LogicalPlan, Statistics, UnaryNode}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf

/**
 * Keeps folded windows where panes are going to be planned, and gives Spark's copies to every other
 * query. It runs when the optimizer has simplified the plan.
 */
final class KeepFoldedWindows(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val found = columnsIn(plan)
    if (found.isEmpty) plan
    else {
      // Subqueries that became part of the plan have been through here.
      val done = plan.collect { case WindowCopies(child, _) => columnsIn(child) }.flatten
      val kept =
        plan.collect { case PaneQuery(query) if isKept(query) => query.copied.attribute.exprId }
      plan.transformUp {
        case generate @ Generate(windows: WindowsOf, _, _, _, Seq(column), _)
            if !done.contains(column.exprId) =>
          if (kept.contains(column.exprId)) WindowCopies(generate, windows.copies)
          else unfolded(generate, windows, column)
      }
    }
  }

  private def columnsIn(plan: LogicalPlan): Seq[ExprId] = plan.collect {
    case Generate(_: WindowsOf, _, _, _, Seq(column), _) => column.exprId
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
  private def unfolded(generate: Generate, windows: WindowsOf, column: Attribute): LogicalPlan = {
    val asThen = SQLConf.get.clone()
    asThen.setConf(SQLConf.ANSI_ENABLED, windows.isAnsi)
    SQLConf.withExistingConf(asThen) {
      val columns = LocalRelation(generate.child.output)
      val (theirs, copies) = TimeWindowResolution.buildTimeWindowRewrite(
        TimeWindow(windows.time, windows.size, windows.slide, windows.start),
        columns)
      // From below: what takes the place of the columns is not looked into.
      session.sessionState.analyzer.execute(copies).transformUp {
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

  /** What is known of the columns of the rows is true of their copies. */
  override def stats: Statistics = {
    val rows = child match {
      case Generate(_: WindowsOf, _, _, _, _, rows) => rows.stats
      case other => other.stats
    }
    rows.copy(
      sizeInBytes = child.stats.sizeInBytes * copies,
      rowCount = rows.rowCount.map(_ * copies),
      attributeStats = AttributeMap(rows.attributeStats.map { case (column, of) =>
        column -> of.copy(nullCount = of.nullCount.map(_ * copies))
      }.toSeq)
    )
  }

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

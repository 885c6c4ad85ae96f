package io.firesteel.rank

import io.firesteel.core.plans.NativeOperators
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, LogicalQueryStage, Project}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.window.{WindowExecBase, WindowGroupLimitExec}

/**
 * Small windows that another extension computes natively, as DataFusion Comet does. Heaps save
 * nothing there, and an operator of rows between native ones would make Spark run what is above it,
 * too (TPC-DS q70).
 */
private[rank] object NativeWindow {

  /** Sorting so many rows takes some milliseconds. */
  private val FEW_ROWS = 10000

  /** Why heaps are not for `query`; none if they are. */
  def instead(session: SparkSession, query: RankQuery): Option[RankDecline] =
    for {
      rows <- counted(query.child) if rows <= FEW_ROWS
      planned <- NativeOperators.replacing(session, query.window)
      if !planned.exists(isSparks)
    } yield RankDecline.NativeWindow(planned.nodeName, rows)

  /** At most so many rows, if adaptive execution has run the input up to a shuffle. */
  private def counted(plan: LogicalPlan): Option[BigInt] = plan match {
    case stage: LogicalQueryStage => stage.stats.rowCount
    case project: Project => counted(project.child)
    case filter: Filter => counted(filter.child)
    case _ => None
  }

  private def isSparks(plan: SparkPlan): Boolean = plan match {
    case _: WindowExecBase | _: WindowGroupLimitExec => true
    case _ => false
  }
}

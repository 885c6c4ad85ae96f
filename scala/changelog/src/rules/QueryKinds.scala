package io.firesteel.changelog.rules

import io.firesteel.changelog.plan.parse.{ReadTemporalJoin, ReadWindows, StatelessSource, WindowsEmit}
import io.firesteel.changelog.plan.parse.conditions.SideTtl
import io.firesteel.changelog.sql.{FromChangelog, InputHint, RowKindFunction, Snapshot, StateTtl}
import io.firesteel.changelog.upsert.ToUpsert

import org.apache.spark.sql.{AnalysisException, SparkSession}
import org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.firesteel.LaterRefusals
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.OutputMode

/** What a query asks of a changelog, and whether Spark could run it by itself. */
private[rules] object QueryKinds {

  /** When the windows of a query are emitted. */
  def emitOf(query: LogicalPlan, mode: OutputMode): WindowsEmit =
    if (mode == OutputMode.Complete()) WindowsEmit.Copied
    else if (mode == OutputMode.Update() || asksRowKind(query)) WindowsEmit.AtOnce
    else WindowsEmit.AtClose

  /**
   * Whether the query selects `row_kind()`, reads a changelog source, writes upserts, or asks for
   * windows once, when they close.
   */
  def tellsRowKinds(query: LogicalPlan): Boolean =
    asksRowKind(query) || ReadWindows.areIn(query) || ReadTemporalJoin.isIn(query) || query.exists {
      case _: FromChangelog | _: ToUpsert | _: Snapshot => true
      case _ => false
    }

  /** Whether Spark could run the query by itself if it does not refuse it. */
  def mayBeSparks(query: LogicalPlan): Boolean =
    !tellsRowKinds(query) && !hasHintAtJoin(query)

  /** Whether a hint stands at a join of streams, which Spark's join does not know. */
  def hasHintAtJoin(query: LogicalPlan): Boolean = query.exists {
    case StateTtl(_, child) => child.exists(isJoin)
    case join: Join => isJoin(join) && join.children.exists(isHinted)
    case _ => false
  }

  /** As [[io.firesteel.changelog.plan.parse.ReadStreamJoin]] finds hints. */
  private def isHinted(side: LogicalPlan): Boolean =
    InputHint.areJoined(side) || SideTtl.of(side)(StatelessSource.is).nonEmpty

  private def isJoin(plan: LogicalPlan): Boolean = plan match {
    case join: Join => join.children.forall(_.isStreaming)
    case _ => false
  }

  def asksRowKind(query: LogicalPlan): Boolean =
    query.exists(_.expressions.exists(RowKindFunction.isIn))

  /**
   * Spark's reason for refusing the query, at its start or in its first micro-batch; none if Spark
   * runs it. Its check of correctness counts even if it is switched off, because Spark would then
   * answer aggregates over aggregates wrongly.
   */
  def refusal(query: LogicalPlan, mode: OutputMode): Option[String] = {
    val strict = SQLConf.get.clone()
    strict.setConf(SQLConf.STATEFUL_OPERATOR_CHECK_CORRECTNESS_ENABLED, true)
    SQLConf.withExistingConf(strict) {
      try {
        val plain = StateTtl.removed(query)
        UnsupportedOperationChecker.checkForStreaming(plain, mode)
        LaterRefusals.of(SparkSession.active, plain)
      } catch {
        case refused: AnalysisException =>
          Some(refused.getMessage.linesIterator.next().stripSuffix(";"))
      }
    }
  }
}

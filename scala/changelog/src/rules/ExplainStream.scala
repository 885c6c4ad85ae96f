package io.firesteel.changelog.rules

import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.plan.Inferred
import io.firesteel.core.decide.{Decline, Explain}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation
import org.apache.spark.sql.firesteel.streamExecutionOf
import org.apache.spark.sql.streaming.OutputMode

/** What a streaming query would run as, were it started. */
object ExplainStream {

  /**
   * Explains an analysed query in an output mode: what fired, the changelog of each operator, and
   * the physical plan. What cannot be started in that mode is refused as it would be then; but append
   * mode tells every change, as with `row_kind()`.
   */
  def apply(session: SparkSession, query: LogicalPlan, mode: OutputMode): Explain =
    RewriteStreamingWrite.planned(query, mode) match {
      case None => Explain.of(streamExecutionOf(session, query, mode).executedPlan)
      case Some((plan, inferred)) =>
        // Complete mode is ours: Spark's own planner would ask for an aggregate of its own.
        val planned = streamExecutionOf(session, plan, OutputMode.Append()).executedPlan
        val explained = Explain.of(planned)
        explained.copy(plan = s"${ChangelogText(inferred)}\n${explained.plan}")
    }
}

/** Operators as a tree, each with its changelog mode and what identifies its rows. */
private[rules] object ChangelogText {

  def apply(root: Inferred): String =
    (lines(root, 0) :+ "").mkString("Changelog:\n", "\n", "")

  private def lines(inferred: Inferred, depth: Int): Seq[String] = {
    val indent = if (depth == 0) "" else "   " * (depth - 1) + "+- "
    s"$indent${line(inferred)}" +: inferred.inputs.flatMap(lines(_, depth + 1))
  }

  private def line(inferred: Inferred): String = {
    val columns = inferred.operator.output
    val keys = inferred.facts.upsertKeys.map { key =>
      key.toSeq.flatMap(id => columns.find(_.exprId == id)).map(_.name).sorted
        .mkString("(", ", ", ")")
    }
    val by = if (keys.isEmpty) "" else keys.toSeq.sorted.mkString(", upsert key ", " and ", "")
    s"${inferred.operator.name} ${inferred.mode}$by"
  }
}

/**
 * Lets `df.explain()` show what a stream would run as. It knows no output mode: a query that Spark runs
 * by itself in any mode is shown as Spark's, any other as telling every change.
 *
 * It runs where Spark makes plans alike for its cache, the only step between analysis and optimizer
 * that plans of a query take that is explained. A stream that runs has other relations in its plan.
 */
object ExplainStreams extends Rule[LogicalPlan] {

  private val modes = Seq(OutputMode.Append(), OutputMode.Update(), OutputMode.Complete())

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (plan.isStreaming && plan.exists(isNotStarted) && isOn) {
      if (modes.forall(RewriteStreamingWrite.becomesChangelog(plan, _))) {
        RewriteStreamingWrite.planned(plan, OutputMode.Append()).fold(plan)(_._1)
      } else plan
    } else plan

  private def isOn: Boolean = Decline.switchedOff("changelog", ChangelogConf.ENABLED).isEmpty

  private def isNotStarted(plan: LogicalPlan): Boolean = plan match {
    case _: StreamingRelationV2 | _: StreamingRelation => true
    case _ => false
  }
}

package io.firesteel.changelog.rules

import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.plan.{Inferred, UserText}
import io.firesteel.changelog.plan.parse.LastOrder
import io.firesteel.changelog.sql.StateTtl
import io.firesteel.changelog.state.BegunPlan
import io.firesteel.changelog.statements.StatementQueries
import io.firesteel.core.decide.{Decline, Explain}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.firesteel.{active, streamExecutionOf}
import org.apache.spark.sql.firesteel.streaming.StreamingRelation
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.OutputMode

/** Explains a streaming query that is not started. */
object ExplainStream {

  /**
   * Explains an analysed query in an output mode: fired rules, the changelog mode of each operator,
   * and the physical plan. A query that cannot start in that mode raises the same error as its
   * start. Exception: append mode shows every change, as with `row_kind()`.
   */
  def apply(session: SparkSession, query: LogicalPlan, mode: OutputMode): Explain =
    active(session) {
      WholeSet.unapply(query).fold(single(session, query, mode)) { set =>
        val planned = statements(set)
        val plan = streamExecutionOf(session, planned.plan, OutputMode.Append()).executedPlan
        val explained = Explain.of(plan)
        val notes = planned.declined.map(reason => s"Computed for each statement: $reason.\n\n")
        explained.copy(plan = notes.mkString + explained.plan)
      }
    }

  /** A statement set as it would start with a new checkpoint. */
  private[rules] def statements(set: StatementQueries): RewriteStatements.Planned =
    new RewriteStatements(BegunPlan.now(SQLConf.get), checkpoint = None)(set)

  private def single(session: SparkSession, query: LogicalPlan, mode: OutputMode): Explain =
    RewriteStreamingWrite.planned(query, mode) match {
      case None =>
        // As Spark's start does. With the room on, it runs by itself what comes here.
        if (SQLConf.get.isUnsupportedOperationCheckEnabled)
          UnsupportedOperationChecker.checkForStreaming(StateTtl.removed(query), mode)
        Explain.of(streamExecutionOf(session, query, mode).executedPlan)
      case Some((plan, inferred)) =>
        // In complete mode Spark's own planner would require one of its own aggregates.
        val planned = streamExecutionOf(session, plan, OutputMode.Append()).executedPlan
        val explained = Explain.of(planned)
        explained.copy(plan =
          s"${ChangelogText(inferred)}\n${notes(query, mode, inferred)}${explained.plan}")
    }

  private def notes(query: LogicalPlan, mode: OutputMode, inferred: Inferred): String = {
    val unordered = LastOrder.ignored(
      query).filter(_ => mode != OutputMode.Complete()).map { order =>
      s"ORDER BY ${order.map(UserText.of).mkString(", ")} is ignored: the changes of a result have " +
        "no order. Complete mode sorts."
    }
    (unordered ++ CostNotes(inferred.operator)).map(_ + "\n\n").mkString
  }
}

/** Operators as a tree, each with its changelog mode and upsert keys. */
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
 * Lets `df.explain()` show a stream as it would run. `df.explain()` knows no output mode. A query
 * that Spark runs by itself in some mode is shown as Spark's plan. Any other query is shown with
 * every change.
 *
 * The rule runs where Spark normalizes plans for its cache. An explained plan takes no other step
 * between analysis and optimizer. A running stream has other relations in its plan, so the rule
 * does not change it.
 */
object ExplainStreams extends Rule[LogicalPlan] {

  private val modes = Seq(OutputMode.Append(), OutputMode.Update(), OutputMode.Complete())

  override def apply(plan: LogicalPlan): LogicalPlan =
    WholeSet.unapply(plan).filter(_ => isOn).fold(single(plan))(ExplainStream.statements(_).plan)

  private def single(plan: LogicalPlan): LogicalPlan =
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

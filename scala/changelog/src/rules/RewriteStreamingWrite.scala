package io.firesteel.changelog.rules

import io.firesteel.changelog.checkpoint.EditedState
import io.firesteel.changelog.common.{ChangelogConf, ChangelogErrors}
import io.firesteel.changelog.plan.{ChangelogOperator, GroupAggregate, Inferred}
import io.firesteel.changelog.plan.lower.{ChangelogNode, MarkChanges, SinkRows}
import io.firesteel.changelog.plan.parse.ReadPanes
import io.firesteel.changelog.sql.StateTtl
import io.firesteel.changelog.state.{BegunPlan, PlanVersion}
import io.firesteel.changelog.statements.{SetRecord, StatementFiles, StatementQueries}
import io.firesteel.core.decide.Decline

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Deduplicate, Distinct, Join, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.{WriteToStream, WriteToStreamStatement}
import org.apache.spark.sql.execution.streaming.sources.ForeachBatchSink
import org.apache.spark.sql.firesteel.otherTrigger
import org.apache.spark.sql.firesteel.streaming.ResolveWriteToStream
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.OutputMode

/**
 * Rewrites a streaming query as a changelog if Spark refuses it, if it selects `row_kind()` or if
 * it reads a changelog source. Every other query stays Spark's own plan.
 *
 * The rule runs once, before Spark checks streaming plans. The rewritten plan passes that check.
 */
object RewriteStreamingWrite extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write: WriteToStreamStatement if WholeSet.unapply(write.inputQuery).nonEmpty =>
      WholeSet.unapply(write.inputQuery).fold[LogicalPlan](write)(statements(write, _))
    case write: WriteToStreamStatement
        if write.inputQuery.resolved && write.inputQuery.isStreaming =>
      val whole = WholeQuery.inlined(write.inputQuery)
      lazy val plan = begun(write)
      val isMicro = otherTrigger(write).isEmpty
      val found = changelogOf(whole, write.outputMode, plan, isMicro)
      if (found.isEmpty) requireSparks(plan)
      found.fold[LogicalPlan](asSparks(write)) { refused =>
        requireMicroBatches(write)
        val query = WholeQuery.asBegun(plan.version, whole)
        val reading =
          Reading(refused, plan, isSparks = refused.isEmpty && QueryKinds.mayBeSparks(whole))
        WholeQuery.requireOneAnswer(write.inputQuery)
        UpsertWrite.of(query) match {
          case Some(upserts) =>
            val rows = PlanQuery.records(query, upserts, write.outputMode, reading)._1
            write.copy(inputQuery = if (isForFunction(write)) SinkRows(rows) else rows)
          case None if write.outputMode == OutputMode.Complete() => complete(write, query, reading)
          case None => write.copy(inputQuery = changesFor(write, query, reading))
        }
      }
    case other => other
  }

  /**
   * The plan that a query would run as, and the results of inference; none if it stays Spark's
   * plan. In append mode a query whose result changes is read as if it selected `row_kind()`.
   */
  def planned(query: LogicalPlan, mode: OutputMode): Option[(LogicalPlan, Inferred)] = {
    val inlined = WholeQuery.inlined(query)
    val begun = BegunPlan.now(conf)
    changelogOf(inlined, mode, begun).map { refused =>
      val whole = WholeQuery.asBegun(begun.version, inlined)
      val reading =
        Reading(refused, begun, isSparks = refused.isEmpty && QueryKinds.mayBeSparks(whole))
      WholeQuery.requireOneAnswer(query)
      UpsertWrite.of(whole) match {
        case Some(upserts) => PlanQuery.records(whole, upserts, mode, reading)
        case None if mode == OutputMode.Complete() =>
          val result = PlanQuery.table(whole, reading)
          (result.sorted, result.inferred)
        case None if mode == OutputMode.Append() =>
          Try(PlanQuery.changes(whole, mode, reading)).getOrElse(PlanQuery.everyChange(
            whole,
            reading))
        case None => PlanQuery.changes(whole, mode, reading)
      }
    }
  }

  private def statements(write: WriteToStreamStatement, set: StatementQueries): LogicalPlan = {
    Decline.switchedOff("changelog", ChangelogConf.ENABLED).foreach { off =>
      throw ChangelogErrors.switchedOff(off.switch)
    }
    requireMicroBatches(write)
    def planned(
        checkpoint: Option[String],
        record: Option[SetRecord],
        next: Long,
        onlyKept: Boolean) = {
      val plan = record.fold(begun(write))(_.plan)
      val its = new RewriteStatements(plan, checkpoint, record, next, onlyKept)(set)
      its.declined.foreach(reason => logWarning(reason))
      its
    }
    val plan =
      checkpointOf(write).fold(planned(None, None, 0L, onlyKept = false).plan) { checkpoint =>
        val session = SparkSession.active
        val files = new StatementFiles(checkpoint, write.hadoopConf)
        new EditStatements(session, files, new EditedState(session, checkpoint))(set)(
          planned(Some(checkpoint), _, _, _))
      }
    write.copy(inputQuery = plan)
  }

  private def begun(write: WriteToStreamStatement): BegunPlan =
    checkpointOf(write).fold(BegunPlan.now(conf))(BegunPlan.of(_, write.hadoopConf, conf))

  private def checkpointOf(write: WriteToStreamStatement): Option[String] =
    write.userSpecifiedCheckpointLocation.orElse {
      // Without a name each start has a new one.
      for (all <- conf.checkpointLocation; name <- write.userSpecifiedName) yield s"$all/$name"
    }

  /** Whether a query would become a changelog in an output mode. */
  def becomesChangelog(query: LogicalPlan, mode: OutputMode): Boolean =
    changelogOf(WholeQuery.inlined(query), mode, BegunPlan.now(conf)).nonEmpty

  /** Whether a query becomes a changelog, and Spark's reason for refusing it, if it does. */
  private def changelogOf(
      query: LogicalPlan,
      mode: OutputMode,
      begun: => BegunPlan,
      isMicro: Boolean = true): Option[Option[String]] =
    if (query.exists(node => node.isInstanceOf[ChangelogNode] && node.isStreaming)) None
    else if (QueryKinds.tellsRowKinds(query)) {
      Decline.switchedOff("changelog", ChangelogConf.ENABLED).foreach { off =>
        throw ChangelogErrors.switchedOff(off.switch)
      }
      Some(None)
    } else {
      val refused = QueryKinds.refusal(query, mode)
      lazy val overPanes =
        isMicro && mode != OutputMode.Complete() && areWindows(query, mode, begun)
      if (Decline.switchedOff("changelog", ChangelogConf.ENABLED).nonEmpty) None
      else if (refused.isEmpty && !isHinted(query, begun) && !overPanes) None
      else Some(refused)
    }

  /**
   * Whether a query that Spark runs by itself is one over panes. A checkpoint that Spark's plan
   * began stays Spark's, and one with panes stays so whatever the settings say.
   */
  private def areWindows(query: LogicalPlan, mode: OutputMode, begun: => BegunPlan): Boolean = {
    val plain = WholeQuery.withoutMarks(query)
    // The checkpoint of another query is not read.
    ReadPanes.areAllOf(plain, overlap = 2L) && begun.choices.usesPanes &&
    (begun.version >= PlanVersion.marks || plain.fastEquals(query)) &&
    ReadPanes.areAllOf(plain, begun.choices.panesFrom) &&
    conf.getConf(SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE) &&
    Try(PlanQuery.changes(
      plain,
      mode,
      Reading(None, begun, isSparks = true, isTrial = true))).toOption
      .exists { case (_, inferred) => isOverPanes(inferred.operator) }
  }

  private def isOverPanes(operator: ChangelogOperator): Boolean = operator match {
    case groups: GroupAggregate => groups.panes.nonEmpty
    case other => other.inputs.exists(isOverPanes)
  }

  /** Whether a hint makes a join of streams a changelog. One that Spark began goes on as Spark's. */
  private def isHinted(query: LogicalPlan, begun: => BegunPlan): Boolean =
    QueryKinds.hasHintAtJoin(query) && (begun.isOurs || begun.version > PlanVersion.first)

  /** A checkpoint with state of this room is not Spark's, though Spark could run the query. */
  private def requireSparks(begun: => BegunPlan): Unit =
    Decline.switchedOff("changelog", ChangelogConf.ENABLED).filter(_ => begun.isOurs).foreach {
      off => throw ChangelogErrors.switchedOff(off.switch)
    }

  /** Spark's own plans keep state as Spark does, without a time to live. */
  private def asSparks(write: WriteToStreamStatement): LogicalPlan = {
    val query = StateTtl.removed(write.inputQuery)
    if (write.inputQuery.conf.getConf(ChangelogConf.STATE_TTL) > 0L && keepsState(query)) {
      logWarning(
        s"${ChangelogConf.STATE_TTL.key} has no effect: Spark runs the query by itself and removes " +
          "state only by watermarks. In append and update mode it is a changelog with row_kind().")
    }
    if (query eq write.inputQuery) write
    else {
      logWarning(
        "A hint STATE_TTL or MULTI_JOIN has no effect: Spark runs the query by itself, or began its " +
          "checkpoint, and removes state only by watermarks.")
      write.copy(inputQuery = query)
    }
  }

  private def keepsState(query: LogicalPlan): Boolean = query.exists {
    case join: Join => join.children.forall(_.isStreaming)
    case its @ (_: Aggregate | _: Distinct | _: Deduplicate) => its.isStreaming
    case _ => false
  }

  private def requireMicroBatches(write: WriteToStreamStatement): Unit =
    otherTrigger(write).foreach(other => throw ChangelogErrors.unsupportedTrigger(other))

  /**
   * `foreachBatch` may apply the changes to a table, so the column of kinds carries their metadata.
   */
  private def changesFor(
      write: WriteToStreamStatement,
      query: LogicalPlan,
      reading: Reading): LogicalPlan = {
    val (plan, inferred) = PlanQuery.changes(query, write.outputMode, reading)
    if (isForFunction(write)) SinkRows(Project(MarkChanges(plan.output, inferred), plan)) else plan
  }

  private def isForFunction(write: WriteToStreamStatement): Boolean =
    write.sink.isInstanceOf[ForeachBatchSink[_]]

  /**
   * Complete mode. Spark accepts the mode only with one of its own aggregates in the plan, so the
   * statement is resolved in append mode first.
   */
  private def complete(
      write: WriteToStreamStatement,
      query: LogicalPlan,
      reading: Reading): LogicalPlan = {
    val result = PlanQuery.table(query, reading)
    ResolveWriteToStream(
      write.copy(inputQuery = result.table, outputMode = OutputMode.Append())) match {
      case resolved: WriteToStream =>
        resolved.copy(outputMode = OutputMode.Complete(), inputQuery = result.sorted)
      case other => other
    }
  }
}

package io.firesteel.changelog.rules

import io.firesteel.changelog.common.{ChangelogConf, ChangelogErrors, StateTypes}
import io.firesteel.changelog.plan.{ChangeEvents, ChangelogOperator, ColumnFacts, GroupAggregate, InferChangelog, Inferred, Projection, PruneColumns, ResultKeys}
import io.firesteel.changelog.plan.lower.{ChangelogNode, ChangelogTable, DescribeMembers, LowerOperators, MarkChanges, SinkRows}
import io.firesteel.changelog.plan.parse.{CommonConditions, LastOrder, OrderedJoins, ParseQuery, ReadPanes, ReadTemporalJoin, ReadWindows, Repeatable, WindowsEmit}
import io.firesteel.changelog.plan.share.{SharedPart, SharedPlans}
import io.firesteel.changelog.sql.{FromChangelog, RowKindFunction, Snapshot, StateTtl}
import io.firesteel.changelog.state.{BegunPlan, ChangelogContract, PlanVersion, TimeToLive, Watermark}
import io.firesteel.changelog.statements.StatementFiles
import io.firesteel.changelog.upsert.ToUpsert
import io.firesteel.core.decide.Decline

import scala.annotation.tailrec
import scala.util.Try

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
import org.apache.spark.sql.catalyst.expressions.{Attribute, ExprId, NamedExpression}
import org.apache.spark.sql.catalyst.optimizer.InlineCTE
import org.apache.spark.sql.catalyst.plans.logical.{CTERelationRef, LogicalPlan, Project, WithCTE}
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
    case write @ StatementSetWrite(set) =>
      Decline.switchedOff("changelog", ChangelogConf.ENABLED).foreach { off =>
        throw ChangelogErrors.switchedOff(off.switch)
      }
      requireMicroBatches(write)
      val rows = checkpointOf(write).map(its => s"$its/statements/rows")
      val plan = new RewriteStatements(begun(write), rows)(set)
      checkpointOf(write).foreach { its =>
        new StatementFiles(its, write.hadoopConf).requireStatements(set.names, set.modes)
      }
      write.copy(inputQuery = plan)
    case write: WriteToStreamStatement
        if write.inputQuery.resolved && write.inputQuery.isStreaming =>
      val whole = inlined(write.inputQuery)
      lazy val plan = begun(write)
      val isMicro = otherTrigger(write).isEmpty
      val found = changelogOf(whole, write.outputMode, plan, isMicro)
      if (found.isEmpty) requireSparks(plan)
      found.fold[LogicalPlan](asSparks(write)) { refused =>
        requireMicroBatches(write)
        val query = asBegun(plan.version, whole)
        val reading = Reading(refused, plan, isSparks = refused.isEmpty && !tellsRowKinds(whole))
        requireOneAnswer(write.inputQuery)
        UpsertWrite.of(query) match {
          case Some(upserts) =>
            val rows = records(query, upserts, write.outputMode, reading)._1
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
    val whole = CommonConditions(inlined(query))
    val begun = BegunPlan.now(conf)
    changelogOf(whole, mode, begun).map { refused =>
      val reading = Reading(refused, begun, isSparks = refused.isEmpty && !tellsRowKinds(whole))
      requireOneAnswer(query)
      UpsertWrite.of(whole) match {
        case Some(upserts) => records(whole, upserts, mode, reading)
        case None if mode == OutputMode.Complete() =>
          val result = table(whole, reading)
          (result.sorted, result.inferred)
        case None if mode == OutputMode.Append() =>
          Try(changes(whole, mode, reading)).getOrElse(everyChange(whole, reading))
        case None => changes(whole, mode, reading)
      }
    }
  }

  /**
   * How a query is read as operators.
   *
   * @param refused Spark's reason for refusing it, if it does
   * @param begun how its checkpoint began
   * @param isSparks whether Spark could run it by itself: a time to live has no effect there
   * @param hasParts whether its shared parts have been found
   */
  private case class Reading(
      refused: Option[String],
      begun: BegunPlan,
      isSparks: Boolean = false,
      hasParts: Boolean = false) {
    def sharesParts: Boolean = begun.choices.sharesParts && !hasParts
  }

  /** A query as its checkpoint began to read it. */
  private[rules] def read(begun: BegunPlan, query: LogicalPlan): LogicalPlan = {
    requireOneAnswer(query)
    asBegun(begun.version, inlined(query))
  }

  /** The changes of a query, or its rows if they only come, in append or update mode. */
  private[rules] def changesOf(
      query: LogicalPlan,
      mode: OutputMode,
      begun: BegunPlan): (LogicalPlan, Inferred) =
    changes(query, mode, Reading(None, begun, hasParts = true))

  /** The result of a query in complete mode, without its order. */
  private[rules] def wholeOf(query: LogicalPlan, begun: BegunPlan): LogicalPlan = {
    val result = table(query, Reading(None, begun, hasParts = true))
    result.last.copy(order = None).over(result.table)
  }

  /** The records of `to_upsert`, if the query writes them. */
  private[rules] def recordsOf(
      query: LogicalPlan,
      mode: OutputMode,
      begun: BegunPlan): Option[LogicalPlan] = UpsertWrite.of(query).map { upserts =>
    records(query, upserts, mode, Reading(None, begun, hasParts = true))._1
  }

  /** Every change of a part of a query, with the column of kinds; none if its rows only come. */
  private[rules] def partOf(
      query: LogicalPlan,
      emit: WindowsEmit,
      begun: BegunPlan,
      isSparks: Boolean): (LogicalPlan, Option[Attribute], Inferred) = {
    val read = operators(query, updateBefore = true, Reading(None, begun, isSparks), emit)
    val inferred = InferChangelog(read, updateBefore = true)
    val written =
      if (emit == WindowsEmit.Copied) LowerOperators.complete(inferred, begun.choices)
      else LowerOperators(inferred, begun.choices)
    (
      Project(outputOf(query, written.plan) ++ written.kind, written.plan),
      written.kind,
      inferred)
  }

  private[rules] def warn(text: String): Unit = logWarning(text)

  /** When the windows of a query are emitted. */
  private[rules] def emitOf(query: LogicalPlan, mode: OutputMode): WindowsEmit =
    if (mode == OutputMode.Complete()) WindowsEmit.Copied
    else if (mode == OutputMode.Update() || asksRowKind(query)) WindowsEmit.AtOnce
    else WindowsEmit.AtClose

  private def begun(write: WriteToStreamStatement): BegunPlan =
    checkpointOf(write).fold(BegunPlan.now(conf))(BegunPlan.of(_, write.hadoopConf, conf))

  private def checkpointOf(write: WriteToStreamStatement): Option[String] =
    write.userSpecifiedCheckpointLocation.orElse {
      // Without a name each start has a new one.
      for (all <- conf.checkpointLocation; name <- write.userSpecifiedName) yield s"$all/$name"
    }

  /** A checkpoint keeps the operators that it began with. */
  private def asBegun(version: Int, query: LogicalPlan): LogicalPlan = {
    val rewrites = Seq[(Int, LogicalPlan => LogicalPlan)](
      PlanVersion.commonConditions -> CommonConditions.apply,
      PlanVersion.orderedTables -> OrderedJoins.ofTables)
    rewrites.filter(_._1 <= version).foldLeft(query) { case (plan, (_, rewrite)) => rewrite(plan) }
  }

  /** Whether a query would become a changelog in an output mode. */
  def becomesChangelog(query: LogicalPlan, mode: OutputMode): Boolean =
    changelogOf(inlined(query), mode, BegunPlan.now(conf)).nonEmpty

  /** Writes common table expressions into the places that read them, also those of a view. */
  private def inlined(query: LogicalPlan): LogicalPlan =
    if (query.exists(_.isInstanceOf[WithCTE])) InlineCTE(alwaysInline = true).apply(query)
    else query

  /**
   * An inlined common table expression is computed in each place, so it must give the same rows in
   * each.
   */
  private def requireOneAnswer(query: LogicalPlan): Unit = {
    def read(plan: LogicalPlan) =
      plan.collectWithSubqueries { case reading: CTERelationRef => reading.cteId }
    val definitions =
      query.collectWithSubqueries { case WithCTE(_, definitions) => definitions }.flatten
    // If A is read twice and reads B, then B is read twice, too.
    @tailrec
    def closure(ids: Set[Long]): Set[Long] = {
      val more = ids ++ definitions.filter(d => ids(d.id)).flatMap(d => read(d.child))
      if (more == ids) ids else closure(more)
    }
    val all = read(query)
    val twice = closure(all.filter(id => all.count(_ == id) > 1).toSet)
    definitions.filter(definition => twice(definition.id))
      .flatMap(_.child.collectWithSubqueries { case node =>
        node.expressions.find(!_.deterministic)
      }.flatten)
      .foreach(varying => throw ChangelogErrors.notRepeatable("WITH", varying.sql))
  }

  /** Whether a query becomes a changelog, and Spark's reason for refusing it, if it does. */
  private def changelogOf(
      query: LogicalPlan,
      mode: OutputMode,
      begun: => BegunPlan,
      isMicro: Boolean = true): Option[Option[String]] =
    if (query.exists(node => node.isInstanceOf[ChangelogNode] && node.isStreaming)) None
    else if (tellsRowKinds(query)) {
      Decline.switchedOff("changelog", ChangelogConf.ENABLED).foreach { off =>
        throw ChangelogErrors.switchedOff(off.switch)
      }
      Some(None)
    } else {
      val refused = refusal(query, mode)
      lazy val overPanes =
        isMicro && mode != OutputMode.Complete() && areWindows(query, mode, begun)
      if (Decline.switchedOff("changelog", ChangelogConf.ENABLED).nonEmpty) None
      else if (refused.isEmpty && !overPanes) None
      else Some(refused)
    }

  /**
   * Whether a query that Spark runs by itself is one over panes. A checkpoint that Spark's plan
   * began stays Spark's, and one with panes stays so whatever the settings say.
   */
  private def areWindows(query: LogicalPlan, mode: OutputMode, begun: => BegunPlan): Boolean = {
    // The checkpoint of another query is not read.
    ReadPanes.areAllOf(query, overlap = 2L) && begun.choices.usesPanes &&
    ReadPanes.areAllOf(query, begun.choices.panesFrom) &&
    conf.getConf(SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE) &&
    Try(changes(query, mode, Reading(None, begun, isSparks = true))).toOption
      .exists { case (_, inferred) => isOverPanes(inferred.operator) }
  }

  private def isOverPanes(operator: ChangelogOperator): Boolean = operator match {
    case groups: GroupAggregate => groups.panes.nonEmpty
    case other => other.inputs.exists(isOverPanes)
  }

  /** A checkpoint with state of this room is not Spark's, though Spark could run the query. */
  private def requireSparks(begun: => BegunPlan): Unit =
    Decline.switchedOff("changelog", ChangelogConf.ENABLED).filter(_ => begun.isOurs).foreach {
      off => throw ChangelogErrors.switchedOff(off.switch)
    }

  /** Spark's own plans keep state as Spark does, without a time to live. */
  private def asSparks(write: WriteToStreamStatement): LogicalPlan = {
    val query = StateTtl.removed(write.inputQuery)
    if (query eq write.inputQuery) write
    else {
      logWarning(
        "The hint STATE_TTL has no effect: Spark runs the query by itself and removes state only " +
          "by watermarks.")
      write.copy(inputQuery = query)
    }
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
    val (plan, inferred) = changes(query, write.outputMode, reading)
    if (isForFunction(write)) SinkRows(Project(MarkChanges(plan.output, inferred), plan)) else plan
  }

  private def isForFunction(write: WriteToStreamStatement): Boolean =
    write.sink.isInstanceOf[ForeachBatchSink[_]]

  /** Append and update mode. */
  private def changes(
      query: LogicalPlan,
      mode: OutputMode,
      reading: Reading): (LogicalPlan, Inferred) = orAlone(reading)(changesBy(query, mode, _))

  /** What cannot be read with shared parts is read without. */
  private def orAlone[T](reading: Reading)(read: Reading => T): T =
    if (!reading.sharesParts) read(reading)
    else Try(read(reading)).recover { case _: AnalysisException =>
      read(reading.copy(hasParts = true))
    }.get

  private def changesBy(
      query: LogicalPlan,
      mode: OutputMode,
      reading: Reading): (LogicalPlan, Inferred) = {
    val upsert = mode == OutputMode.Update()
    val emit = emitOf(query, mode)
    val shared = Shared(LastOrder.without(query), emit, reading)
    val read = operators(shared.query, updateBefore = !upsert, reading, emit)
    val inferred = InferChangelog(read, updateBefore = false)
    if (upsert) requireUpsertKey(inferred)
    if (!upsert && !inferred.changes.insertOnly) {
      throw ChangelogErrors.notInsertOnly(read.name + " " + InferChangelog(read, true).mode)
    }
    val written = LowerOperators(inferred, reading.begun.choices)
    val shown = written.kind match {
      case Some(kind) if inferred.updateBefore => LowerOperators.withoutBefore(written.plan, kind)
      case _ => written.plan
    }
    (shared.over(Project(outputOf(query, shown), shown)), inferred)
  }

  /**
   * A query that reads its shared parts.
   *
   * @param parts the parts with their plans
   */
  private case class Shared(query: LogicalPlan, parts: Seq[(SharedPart, LogicalPlan)]) {
    def over(plan: LogicalPlan): LogicalPlan =
      if (parts.isEmpty) plan else SharedPlans(parts.map(_._1), parts.map(_._2) :+ plan)
  }

  private object Shared {
    def apply(query: LogicalPlan, emit: WindowsEmit, reading: Reading): Shared =
      if (!reading.sharesParts) Shared(query, Nil)
      else {
        val found = new FindShared(
          Seq(FindShared.Query(query, emit)),
          new PlanParts(reading.begun, reading.isSparks, durableIn = None),
          onlyState = true)()
        Shared(found.queries.head, found.parts)
      }
  }

  private def operators(
      query: LogicalPlan,
      updateBefore: Boolean,
      reading: Reading,
      emit: WindowsEmit = WindowsEmit.AtOnce): ChangelogOperator = {
    val ttlMs = if (reading.isSparks) 0L else conf.getConf(ChangelogConf.STATE_TTL)
    val parse = new ParseQuery(updateBefore, reading.refused, reading.begun, emit, ttlMs)
    val read = PruneColumns(parse.read(query))
    Repeatable.require(read)
    CostNotes(read).distinct.foreach(note => logWarning(note))
    read
  }

  /** Every change of the result, with its kind in a further column. */
  private def everyChange(query: LogicalPlan, reading: Reading): (LogicalPlan, Inferred) =
    orAlone(reading)(everyChangeBy(query, _))

  private def everyChangeBy(query: LogicalPlan, reading: Reading): (LogicalPlan, Inferred) = {
    val shared = Shared(LastOrder.without(query), WindowsEmit.AtOnce, reading)
    val inferred =
      InferChangelog(operators(shared.query, updateBefore = true, reading), updateBefore = true)
    val written = LowerOperators(inferred, reading.begun.choices)
    val rows = Project(outputOf(query, written.plan) ++ written.kind, written.plan)
    (shared.over(rows), inferred)
  }

  /** The records of `to_upsert`. */
  private def records(
      query: LogicalPlan,
      upserts: ToUpsert,
      mode: OutputMode,
      reading: Reading): (LogicalPlan, Inferred) = {
    val (plan, inferred) = everyChange(UpsertWrite.rows(upserts), reading)
    (UpsertWrite(query, upserts, mode, plan, inferred), inferred)
  }

  /**
   * Requires the keys of an upsert stream, and without `row_kind()` also a result without
   * deletions.
   */
  private def requireUpsertKey(inferred: Inferred): Unit =
    inferred.where(_.isInstanceOf[ChangeEvents]) match {
      case Some(events) =>
        if (!events.inputs.head.changes.insertOnly && keysOfEvents(inferred).isEmpty) {
          throw ChangelogErrors.notAnUpsert("no columns of the result identify its rows")
        }
      case None if inferred.changes.insertOnly => ()
      case None if inferred.changes.deletes =>
        throw ChangelogErrors.notAnUpsert("rows of the result may be deleted")
      case None if ResultKeys(inferred.operator).isEmpty =>
        throw ChangelogErrors.notAnUpsert("no columns of the result identify its rows")
      case None => ()
    }

  /** The upsert keys of the changed rows, followed from `row_kind()` up to the result. */
  private def keysOfEvents(query: Inferred): Set[Set[ExprId]] = query.operator match {
    case ChangeEvents(columns, _, _) =>
      ColumnFacts.mapKeys(columns, ResultKeys(query.inputs.head.operator))
    case Projection(columns, _) =>
      ColumnFacts.mapKeys(columns, keysOfEvents(query.inputs.head))
    case _ => query.inputs.headOption.fold(Set.empty[Set[ExprId]])(keysOfEvents)
  }

  /** The whole result at every micro-batch, and the query's last sort and projections. */
  private case class WholeResult(table: ChangelogTable, last: LastOrder, inferred: Inferred) {
    def sorted: LogicalPlan = last.over(table)
  }

  /**
   * Complete mode. Spark accepts the mode only with one of its own aggregates in the plan, so the
   * statement is resolved in append mode first.
   */
  private def complete(
      write: WriteToStreamStatement,
      query: LogicalPlan,
      reading: Reading): LogicalPlan = {
    val result = table(query, reading)
    ResolveWriteToStream(
      write.copy(inputQuery = result.table, outputMode = OutputMode.Append())) match {
      case resolved: WriteToStream =>
        resolved.copy(outputMode = OutputMode.Complete(), inputQuery = result.sorted)
      case other => other
    }
  }

  private def table(query: LogicalPlan, reading: Reading): WholeResult =
    orAlone(reading)(tableBy(query, _))

  private def tableBy(query: LogicalPlan, reading: Reading): WholeResult = {
    if (asksRowKind(query)) throw ChangelogErrors.noEventsInComplete()
    val last = LastOrder(query)
    val unordered = last.query
    val shared = Shared(unordered, WindowsEmit.Copied, reading)
    val inferred =
      InferChangelog(
        operators(shared.query, updateBefore = true, reading, WindowsEmit.Copied),
        updateBefore = true)
    val written = LowerOperators.complete(inferred, reading.begun.choices)
    val columns = outputOf(unordered, written.plan)
    val rows = Project(columns ++ written.kind, written.plan)
    val attributes = columns.map(_.toAttribute)
    StateTypes.require("complete mode", attributes)
    val ttl = TimeToLive.of(conf.getConf(ChangelogConf.STATE_TTL))
    val contract = ChangelogContract(
      Seq(written.kind),
      None,
      updateBefore = false,
      Seq(None),
      ttl,
      new Watermark,
      "complete",
      DescribeMembers.whole(inferred))
    WholeResult(ChangelogTable(attributes, contract, shared.over(rows)), last, inferred)
  }

  private def outputOf(query: LogicalPlan, written: LogicalPlan): Seq[NamedExpression] =
    query.output.map((a: Attribute) => written.output.find(_.exprId == a.exprId).get)

  /**
   * Whether the query selects `row_kind()`, reads a changelog source, writes upserts, or asks for
   * windows once, when they close.
   */
  private[rules] def tellsRowKinds(query: LogicalPlan): Boolean =
    asksRowKind(query) || ReadWindows.areIn(query) || ReadTemporalJoin.isIn(query) || query.exists {
      case _: FromChangelog | _: ToUpsert | _: Snapshot => true
      case _ => false
    }

  private def asksRowKind(query: LogicalPlan): Boolean =
    query.exists(_.expressions.exists(RowKindFunction.isIn))

  /**
   * Spark's reason for refusing the query; none if Spark runs it. Its check of correctness counts
   * even if it is switched off, because Spark would then answer aggregates over aggregates wrongly.
   */
  private[rules] def refusal(query: LogicalPlan, mode: OutputMode): Option[String] = {
    val strict = conf.clone()
    strict.setConf(SQLConf.STATEFUL_OPERATOR_CHECK_CORRECTNESS_ENABLED, true)
    SQLConf.withExistingConf(strict) {
      try {
        UnsupportedOperationChecker.checkForStreaming(StateTtl.removed(query), mode)
        None
      } catch {
        case refused: AnalysisException =>
          Some(refused.getMessage.linesIterator.next().stripSuffix(";"))
      }
    }
  }
}

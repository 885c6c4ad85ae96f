package io.firesteel.changelog.rules

import io.firesteel.changelog.common.{ChangelogConf, ChangelogErrors, StateTypes}
import io.firesteel.changelog.plan.{ChangeEvents, ColumnFacts, InferChangelog, Inferred, Projection, ResultKeys}
import io.firesteel.changelog.plan.lower.{AnalyzedColumns, ChangelogTable, DescribeMembers, LowerOperators, NoteReaders}
import io.firesteel.changelog.plan.parse.{LastOrder, WindowsEmit}
import io.firesteel.changelog.plan.share.SharedPlans
import io.firesteel.changelog.state.{ChangelogContract, Placement, PlanVersion, TimeToLive, Watermark}
import io.firesteel.changelog.upsert.ToUpsert

import scala.util.Try

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.ExprId
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.OutputMode

/** The plan of a query in each output mode, with its shared parts. */
private[rules] object PlanQuery {

  /** Append and update mode. */
  def changes(
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
    val emit = QueryKinds.emitOf(query, mode)
    val shared = Shared(LastOrder.without(query), emit, reading)
    val read = ReadOperators(shared.query, updateBefore = !upsert, reading, emit)
    val inferred = InferChangelog(read, updateBefore = false)
    if (upsert) requireUpsertKey(inferred)
    if (!upsert && !inferred.changes.insertOnly) {
      throw ChangelogErrors.notInsertOnly(read.name + " " + InferChangelog(read, true).mode)
    }
    val written = LowerOperators(inferred, reading.begun)
    val shown = written.kind match {
      case Some(kind) if inferred.updateBefore => LowerOperators.withoutBefore(written.plan, kind)
      case _ => written.plan
    }
    (shared.over(Project(ReadOperators.outputOf(query, shown), shown), inferred), inferred)
  }

  /**
   * A query that reads its shared parts.
   *
   * @param version of its plan
   */
  private case class Shared(query: LogicalPlan, parts: Seq[FindShared.Part], version: Int) {

    /** @param inferred the query that reads the parts, written as `plan` */
    def over(plan: LogicalPlan, inferred: Inferred): LogicalPlan =
      if (parts.isEmpty) plan
      else {
        // Readers come after what they read.
        val own = new DescribeMembers(version).readers(inferred)
        val (plans, _) =
          parts.foldRight((Seq.empty[LogicalPlan], own)) { case (its, (done, reads)) =>
            val texts = reads.getOrElse(its.part.id, Nil)
            // A part without state passes on who reads it.
            val passed = if (NoteReaders.hasPlace(its.plan)) Nil else texts
            val below = its.reads.map { case (part, asked) => part -> (asked ++ passed) }
            val all = below.foldLeft(reads) { case (known, (part, asked)) =>
              known.updated(part, known.getOrElse(part, Nil) ++ asked)
            }
            (NoteReaders(its.plan, texts) +: done, all)
          }
        SharedPlans(parts.map(_.part), plans :+ plan)
      }
  }

  private object Shared {
    def apply(query: LogicalPlan, emit: WindowsEmit, reading: Reading): Shared =
      if (!reading.sharesParts) Shared(query, Nil, reading.begun.version)
      else {
        val found = new FindShared(
          Seq(FindShared.Query(query, emit)),
          new PlanParts(reading, durableIn = None),
          new Varying(ofTables = false, again = false), // one query has one value
          onlyState = true,
          version = reading.begun.version
        )()
        Shared(found.queries.head, found.parts, reading.begun.version)
      }
  }

  /** Every change of the result, with its kind in a further column. */
  def everyChange(query: LogicalPlan, reading: Reading): (LogicalPlan, Inferred) =
    orAlone(reading)(everyChangeBy(query, _))

  private def everyChangeBy(query: LogicalPlan, reading: Reading): (LogicalPlan, Inferred) = {
    val shared = Shared(LastOrder.without(query), WindowsEmit.AtOnce, reading)
    val inferred =
      InferChangelog(ReadOperators(shared.query, updateBefore = true, reading), updateBefore = true)
    val written = LowerOperators(inferred, reading.begun)
    val rows = Project(ReadOperators.outputOf(query, written.plan) ++ written.kind, written.plan)
    (shared.over(rows, inferred), inferred)
  }

  /** The records of `to_upsert`. */
  def records(
      query: LogicalPlan,
      upserts: ToUpsert,
      mode: OutputMode,
      reading: Reading): (LogicalPlan, Inferred) = {
    val (plan, inferred) = everyChange(UpsertWrite.rows(upserts), reading)
    (UpsertWrite(query, upserts, mode, plan, inferred, reading.begun.version), inferred)
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
  final case class WholeResult(table: ChangelogTable, last: LastOrder, inferred: Inferred) {
    def sorted: LogicalPlan = last.over(table)

    /** The columns of the query, for a sink that has no order. */
    def unsorted: LogicalPlan = last.copy(order = None).over(table)
  }

  def table(query: LogicalPlan, reading: Reading): WholeResult =
    orAlone(reading)(tableBy(query, _))

  private def tableBy(query: LogicalPlan, reading: Reading): WholeResult = {
    if (QueryKinds.asksRowKind(query)) throw ChangelogErrors.noEventsInComplete()
    val last =
      LastOrder(query, throughViews = reading.begun.version >= PlanVersion.moreForms)
    val unordered = last.query
    val shared = Shared(unordered, WindowsEmit.Copied, reading)
    val inferred =
      InferChangelog(
        ReadOperators(
          shared.query,
          updateBefore = true,
          reading,
          WindowsEmit.Copied,
          keepsRows = true),
        updateBefore = true)
    val written = LowerOperators.complete(inferred, reading.begun)
    val columns = ReadOperators.outputOf(unordered, written.plan)
    val rows = Project(columns ++ written.kind, written.plan)
    val attributes = columns.map(_.toAttribute)
    StateTypes.require("complete mode", attributes)
    val ttl = TimeToLive.of(SQLConf.get.getConf(ChangelogConf.STATE_TTL))
    val contract = ChangelogContract(
      Seq(written.kind),
      None,
      updateBefore = false,
      Seq(None),
      ttl,
      new Watermark,
      "complete",
      new DescribeMembers(reading.begun.version).whole(inferred),
      Placement.ownShuffles.copy(version = reading.begun.version)
    )
    WholeResult(
      ChangelogTable(attributes, contract, AnalyzedColumns.of(shared.over(rows, inferred))),
      last,
      inferred)
  }
}

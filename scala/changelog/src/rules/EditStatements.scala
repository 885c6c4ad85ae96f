package io.firesteel.changelog.rules

import io.firesteel.changelog.checkpoint.EditedState
import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.plan.lower.SourceNames
import io.firesteel.changelog.statements.{SetRecord, StatementFiles, StatementQueries}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.firesteel.streaming.StatefulOperator
import org.apache.spark.sql.firesteel.{operatorMetadataOf, streamExecutionOf}
import org.apache.spark.sql.streaming.OutputMode

/**
 * Starts a statement set with its checkpoint, which may have other statements. A statement that is
 * there no more loses the state of its own; what it shares with others stays. Operators of the
 * others keep their state, which has other numbers then.
 */
final private[rules] class EditStatements(
    session: SparkSession,
    files: StatementFiles,
    state: EditedState)
  extends Logging {
  import EditStatements._

  /** @param plan plans the set as the record has it, and the next micro-batch for what is new */
  def apply(set: StatementQueries)(
      plan: (Option[SetRecord], Long) => RewriteStatements.Planned): LogicalPlan = {
    state.repartitioned()
    state.finish().foreach { json =>
      files.record(SetRecord.read(json))
      state.end()
    }
    files.record() match {
      case None =>
        val planned = plan(None, 0L)
        files.record(withOperators(planned, operatorsOf(planned)))
        planned.plan
      case Some(record) if StatementGroups.isEdit(set, record) =>
        val planned = plan(Some(record), state.next)
        requireParts(record, planned.record)
        edit(record, planned)
        planned.plan
      case Some(record) =>
        val planned = plan(Some(record), state.next)
        val now = unmoved(record, planned.record)
        if (now.json != record.json) files.record(now)
        planned.plan
    }
  }

  /**
   * The record of the same statements, whose queries may have changed: another filter of rows that
   * only come is another part at the same place. Operators and sources are found by their places, so
   * no part may be where another was.
   */
  private def unmoved(before: SetRecord, now: SetRecord): SetRecord = {
    val (old, are) = (before.parts.map(_.owner), now.parts.map(_.owner))
    val renamed = old.zip(are).filter { case (was, is) => was != is }
    val isMoved = renamed.exists { case (was, is) => are.contains(was) || old.contains(is) }
    if (isMoved || before.parts.map(_.name) != now.parts.map(_.name) ||
      before.sources.size != now.sources.size) {
      throw otherParts(before, now)
    }
    // Offsets are those of a place; what a source is called may have changed. Places of one source
    // have one offset.
    def alike(sources: Seq[String]) = sources.map(sources.indexOf(_))
    if (alike(before.sources) != alike(now.sources) ||
      before.sources != now.sources && before.sources.sorted == now.sources.sorted) {
      throw ChangelogErrors.otherSources(before.sources, now.sources)
    }
    now.copy(operators = before.operators.map(owner => renamed.toMap.getOrElse(owner, owner)))
  }

  private def operatorsOf(planned: RewriteStatements.Planned): Seq[(String, StatefulOperator)] =
    OperatorOwners.of(
      streamExecutionOf(session, planned.plan, OutputMode.Append()).executedPlan)

  private def withOperators(
      planned: RewriteStatements.Planned,
      operators: Seq[(String, StatefulOperator)]): SetRecord =
    planned.record.copy(operators = operators.map(_._1))

  private def edit(before: SetRecord, planned: RewriteStatements.Planned): Unit = {
    val operators = operatorsOf(planned)
    val (had, has) = (before.statements.map(_.name), planned.record.statements.map(_.name))
    val (came, went) = (has.diff(had), had.diff(has))
    val now = withOperators(planned, operators)
      .copy(left = before.left ++ went.map(_ -> state.next))
    requireSources(before, now)
    val changes = came.map(name => s"'$name' is new") ++ went.map(name => s"'$name' is gone")
    logWarning(s"The statement set has other statements: ${changes.mkString(", ")}.")
    requireKeys(before)
    state.requireOperators(before.operators.size)
    came.find(name => before.left.get(name).contains(state.next)).foreach { name =>
      throw ChangelogErrors.unsupportedOperator(
        s"Statement $name",
        "it left the set in a micro-batch that has not ended, and its target may have the rows",
        "run the set without it first")
    }
    val (old, are) = (numbers(before.operators), numbers(now.operators))
    // What is new has no state yet, and what is gone had state of its own.
    val isNew = ownersOf(now, came)
    val isGone = ownersOf(before, went) -- are.keySet
    are.foreach { case (owner, places) =>
      val had = old.getOrElse(owner, Nil)
      if (!isNew(owner) && had.size != places.size) throw otherParts(before, now)
    }
    if (!(old.keySet -- are.keySet).subsetOf(isGone)) throw otherParts(before, now)
    val moves = are.toSeq.filterNot(its => isNew(its._1))
      .flatMap { case (owner, places) => old(owner).zip(places) }
    val begins = are.toSeq.filter(its => isNew(its._1)).flatMap(_._2).sorted
    state(
      moves,
      isGone.toSeq.flatMap(old.getOrElse(_, Nil)),
      begins.map(place => place -> operatorMetadataOf(operators(place)._2)),
      now.sources.map(before.sources.indexOf(_)),
      runs = now.groups.drop(before.groups.size).exists(_.from == "start"),
      now.json
    )
    files.record(now)
    state.end()
  }

  /** The parts that remaining statements read must be there, and no others. */
  private def requireParts(before: SetRecord, now: SetRecord): Unit = {
    val names = now.statements.map(_.name).toSet
    def keys(parts: Seq[SetRecord.Part]) = parts.map(its => (its.group, its.key)).sorted
    val old = before.groups.indices.toSet
    if (keys(before.partsOf(names)) != keys(now.parts.filter(its => old(its.group)))) {
      throw otherParts(before, now)
    }
  }

  private def requireSources(before: SetRecord, now: SetRecord): Unit = {
    if (SourceNames.areAlike(before.sources ++ now.sources)) {
      throw ChangelogErrors.unsupportedOperator(
        "Another set of statements",
        "two of its sources read the same, and could be mistaken for each other",
        "read it by one DataFrame or view, with a new checkpoint"
      )
    }
    if (before.sources.distinct != now.sources.distinct) {
      throw ChangelogErrors.otherSources(before.sources.distinct, now.sources.distinct)
    }
  }

  /** Operators are found by their part's key. */
  private def requireKeys(before: SetRecord): Unit = {
    val keys = before.parts.map(its => (its.group, its.key))
    if (keys.distinct != keys) throw ChangelogErrors.unsupportedOperator(
      "Another set of statements",
      "two shared parts of the checkpoint compute the same of two sources",
      "keep the statements, or start with a new checkpoint"
    )
  }
}

private object EditStatements {

  /** The numbers of each owner's operators. */
  private def numbers(owners: Seq[String]): Map[String, Seq[Int]] =
    owners.zipWithIndex.groupMap(_._1)(_._2)

  /** What only these statements own: they and the parts that no others read. */
  private def ownersOf(record: SetRecord, names: Seq[String]): Set[String] = {
    val parts = record.parts.filter(_.readers.forall(names.contains))
    (names.map(name => s"statement $name") ++
      parts.map(_.owner)).toSet
  }

  private def otherParts(before: SetRecord, now: SetRecord): Throwable =
    ChangelogErrors.otherParts(before.parts.map(_.name), now.parts.map(_.name))
}

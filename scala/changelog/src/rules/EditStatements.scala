package io.firesteel.changelog.rules

import io.firesteel.changelog.checkpoint.EditedState
import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.plan.lower.SourceNames
import io.firesteel.changelog.state.PlanVersion
import io.firesteel.changelog.statements.{SetRecord, StatementFiles, StatementQueries}

import scala.util.Try

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

  /**
   * @param plan plans the set as the record has it, and the next micro-batch for what is new;
   *   `true` leaves its statements the parts that they have
   */
  def apply(set: StatementQueries)(
      plan: (Option[SetRecord], Long, Boolean) => RewriteStatements.Planned): LogicalPlan = {
    state.repartitioned()
    state.finish().foreach { json =>
      files.record(SetRecord.read(json))
      state.end()
    }
    files.record() match {
      case None =>
        files.forgetFirst()
        val planned = plan(None, 0L, false)
        files.record(withOperators(planned, operatorsOf(planned)))
        planned.plan
      case Some(record) =>
        val isEdit = StatementGroups.isEdit(set, record)
        val planned = fitting(record, if (isEdit) hasParts else isUnmoved)(
          plan(Some(record), state.next, _))
        if (isEdit) edit(record, planned)
        else {
          val now = unmoved(record, planned)
          if (now.json != record.json) files.record(now)
        }
        planned.plan
    }
  }

  /** A statement that is gone may have been why others did not share a part. */
  private def fitting(before: SetRecord, fits: (SetRecord, SetRecord) => Boolean)(
      plan: Boolean => RewriteStatements.Planned): RewriteStatements.Planned = {
    val free = plan(false)
    if (fits(before, free.record)) free
    else Try(plan(true)).toOption.filter(its => fits(before, its.record))
      .getOrElse(throw otherParts(before, free.record))
  }

  /**
   * The record of the same statements. A start that is refused later must not have widened what the
   * record keeps of a part.
   */
  private def unmoved(before: SetRecord, planned: RewriteStatements.Planned): SetRecord = {
    val now = planned.record
    // Offsets are those of a place; what a source is called may have changed. Places of one source
    // have one offset.
    def alike(sources: Seq[String]) = sources.map(sources.indexOf(_))
    if (alike(before.sources) != alike(now.sources) ||
      before.sources != now.sources && before.sources.sorted == now.sources.sorted) {
      throw ChangelogErrors.otherSources(before.sources, now.sources)
    }
    val names = before.parts.map(_.owner).zip(now.parts.map(_.owner)).toMap
    // A first micro-batch that has not ended may have other operators.
    if (state.next == 0L) {
      val its = withOperators(planned, operatorsOf(planned))
      def reads(record: SetRecord) = record.statements.map(_.reads)
      if (its.operators != before.operators || reads(its) != reads(before)) {
        // A target that has the micro-batch has rows of the query that it was.
        if (files.mayHaveFirst) throw otherParts(before, its)
        state.forget()
      }
      its
    } else {
      val kept = before.operators.map(owner => names.getOrElse(owner, owner))
      // Those of equal layout would take each other's state.
      if (before.plan.version >= PlanVersion.valuesOfTables) {
        val are = operatorsOf(planned).map(_._1)
        if (are != kept) throw ChangelogErrors.otherParts(kept, are)
      }
      requireReads(before, now)
      now.withColumnsOf(before).copy(operators = kept)
    }
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
    // Rows of a micro-batch that has not begun are in no target.
    val left = if (state.isPending) went.map(_ -> state.next) else Nil
    val now = withOperators(planned, operators).withColumnsOf(before)
      .copy(left = before.left ++ left)
    requireSources(before, now)
    if (state.next > 0L || files.mayHaveFirst) requireReads(before, now)
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

  /** With another filter above a part, rows that a statement has emitted are never taken back. */
  private def requireReads(before: SetRecord, now: SetRecord): Unit = {
    val reads = now.statements.map(its => its.name -> its.reads).toMap
    before.statements.find(its => reads.get(its.name).exists(_ != its.reads)).foreach { its =>
      throw ChangelogErrors.stateMismatch(
        s"statement ${its.name}",
        Seq("it reads a shared part with other filters or columns"))
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

  /**
   * Whether the same statements, whose queries may have changed, have their parts at the same places:
   * another filter of rows that only come is another part. Operators and sources are found by their
   * places, so no part may be where another was.
   */
  private def isUnmoved(before: SetRecord, now: SetRecord): Boolean = {
    val (old, are) = (before.parts.map(_.owner), now.parts.map(_.owner))
    val isMoved = old.zip(are).exists { case (was, is) =>
      was != is && (are.contains(was) || old.contains(is))
    }
    !isMoved && before.parts.map(_.name) == now.parts.map(_.name) &&
    before.sources.size == now.sources.size
  }

  /** Whether the parts that remaining statements read are there, and no others. */
  private def hasParts(before: SetRecord, now: SetRecord): Boolean = {
    val names = now.statements.map(_.name).toSet
    def keys(parts: Seq[SetRecord.Part]) = parts.map(its => (its.group, its.key)).sorted
    val old = before.groups.indices.toSet
    keys(before.partsOf(names)) == keys(now.parts.filter(its => old(its.group)))
  }

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

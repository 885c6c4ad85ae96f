package io.firesteel.changelog.rules

import io.firesteel.changelog.common.{ChangelogErrors, Digest}
import io.firesteel.changelog.plan.{Changes, Inferred}
import io.firesteel.changelog.plan.lower.{DescribeMembers, MarkChanges, PartReader, ReadOnce, SinkRows, SourceNames}
import io.firesteel.changelog.plan.parse.WindowsEmit
import io.firesteel.changelog.plan.share.{SharedPart, SharedPlans, SharedView}
import io.firesteel.changelog.state.{BegunPlan, PlanVersion}
import io.firesteel.changelog.statements.{SetRecord, StatementQueries, StatementRows, StatementSetRows}

import java.util.Locale

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{CurrentTimestamp, Now}
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, EventTimeWatermark, Join, LogicalPlan, Project, SubqueryAlias, View}
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.firesteel.outputModeOf
import org.apache.spark.sql.streaming.OutputMode

/**
 * Plans the queries of a statement set as one query: what several of them compute is a shared part,
 * and the rows of all are another, which the sinks read one after the other.
 *
 * Statements that came into the set together are a group, with parts of its own: the parts of those
 * before them stay as the checkpoint has them.
 *
 * @param checkpoint of the query; none if it is only explained
 * @param record what the checkpoint has of the set; none if it is new
 * @param next the first micro-batch of statements that the checkpoint does not have
 * @param onlyKept whether groups that the checkpoint has get no other parts
 */
final private[rules] class RewriteStatements(
    begun: BegunPlan,
    checkpoint: Option[String],
    record: Option[SetRecord] = None,
    next: Long = 0L,
    onlyKept: Boolean = false) {
  import RewriteStatements._

  private val reading = Reading(None, begun, hasParts = true)
  private val varying = Varying(begun.version)
  // For rows that would have other values if they were computed again.
  private val durableIn = checkpoint.map(its => s"$its/statements/rows")

  def apply(set: StatementQueries): Planned = {
    val queries = OneSource(OneView(set.children.map(WholeQuery(begun.version, _))))
      .map(SharableNodes.belowNames)
    val groups = new StatementGroups(set, record, next)
    val asked = queries.indices.map { i =>
      statement(set.names(i), set.modes(i), queries(i)).copy(group = groups.of(i))
    }
    requireOneValue(asked)
    asked.foreach { its =>
      val group = groups.all(its.group)
      requireBegin(its, group.from, isNew = next > 0 && group.batch >= next)
    }
    val found = groups.all.indices.scanLeft(Parts.empty) { case (before, group) =>
      partsOf(asked.filter(_.group == group), group, before.number)
    }.tail
    val parts = found.flatMap(_.parts)
    val queryOf = asked.map { its =>
      its.name -> found(its.group).queries.getOrElse(its.name, its.query)
    }.toMap
    val (written, reads) = asked.map { its =>
      val (plan, inferred) = rows(its.copy(query = queryOf(its.name)), reading)
      (StatementRows(its.name, modeOf(its), plan), inferred.fold("")(readsOf(_, parts)))
    }.unzip
    // What a statement computes by itself is a part, too: its target may read the rows twice, or not
    // at all, if it has the micro-batch already. State must go on all the same.
    val telling = asked.map(_.name).filter(name => tellsOthers(queryOf(name))).toSet
    val own = written.filterNot(its => ReadsParts(its) && !telling(its.name))
    val ownParts = own.zipWithIndex.map { case (its, i) =>
      val durable = for {
        root <- durableIn if telling(its.name)
        query <- asked.find(_.name == its.name).map(_.query)
      } yield {
        val computes = PartReader.keyOf(SharableNodes.withoutNames(query), "")
        SharedPart.Durable(root, s"statement-${Digest.of(its.name)}", computes)
      }
      new SharedPart(parts.size + i, s"statement ${its.name}", kind = None, durable)
    }
    val all = StatementSetRows(
      written.map { its =>
        val at = own.indexOf(its)
        if (at < 0) its else SharedView(ownParts(at), its.output)
      },
      checkpoint)
    val shared = parts.map(_.part) ++ ownParts
    val plan =
      SinkRows(if (shared.isEmpty) all else SharedPlans(shared, parts.map(_.plan) ++ own :+ all))
    val statements = asked.zip(reads).map { case (its, reads) =>
      SetRecord.Statement(its.name, modeOf(its), its.group, reads)
    }
    val records = found.zipWithIndex.flatMap { case (its, group) =>
      its.parts.map { part =>
        val readers = part.readers.map(its.names)
        SetRecord.Part(
          group,
          part.part.name,
          part.key,
          s"part ${part.part.key}",
          part.columns,
          readers)
      }
    }
    val now = SetRecord(
      groups.all,
      statements,
      records,
      operators = Nil,
      SourceNames.of(plan),
      begun,
      record.fold(Map.empty[String, Long])(_.left))
    Planned(
      ReadFromStart.mark(timed(plan), now, checkpoint, next),
      now,
      found.flatMap(_.declined))
  }

  /**
   * `now()` is the clock's at each attempt, `current_timestamp()` the micro-batch's. Spark refuses that
   * in the condition of a join.
   */
  private def timed(plan: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.transformWithPruning(_.containsPattern(CURRENT_LIKE)) {
        case join: Join => join
        case node => node.transformExpressionsWithPruning(_.containsPattern(CURRENT_LIKE)) {
            case _: Now => CurrentTimestamp()
          }
      }
    }

  /**
   * Whether a query's rows have other values if they are computed again, and no part has them. Below an
   * operator with state they must be those that its state has.
   */
  private def tellsOthers(query: LogicalPlan): Boolean = {
    def isIn(plan: LogicalPlan): Boolean = !SharableNodes.isStateful(plan) &&
      (varying.isAt(plan) || plan.children.exists(isIn))
    begun.version >= PlanVersion.repeatedValues && isIn(SharableNodes.withoutNames(query))
  }

  /** The shared parts of a group's statements. */
  private def partsOf(asked: Seq[Statement], group: Int, firstId: Int): Parts = {
    val own = asked.filterNot(_.isSparks)
    val kept = record.toSeq.flatMap(_.parts).filter(_.group == group).groupMap(_.key) { part =>
      val readers = part.readers.map(name => own.indexWhere(_.name == name)).filter(_ >= 0).toSet
      FindShared.Kept(part.columns.toSet, readers)
    }
    val found = new FindShared(
      own.map(its => FindShared.Query(its.query, its.emit)),
      new PlanParts(reading, durableIn, group),
      varying,
      onlyState = false,
      version = begun.version,
      onlyKept = onlyKept && record.exists(group < _.groups.size),
      kept = kept,
      firstId = firstId
    )()
    Parts(
      found.parts,
      own.map(_.name).zip(found.queries).toMap,
      own.map(_.name),
      found.declined,
      firstId + found.parts.size)
  }

  /**
   * Spark computes its own operators for each statement, with other values in each; and a group has
   * other values than another.
   */
  private def requireOneValue(all: Seq[Statement]): Unit = {
    requireOneGroup(all)
    def valueOf(its: Statement) =
      its.query.collect { case node => varying.of(node) }.flatten.headOption
    for (its <- all.find(_.isSparks); value <- valueOf(its))
      if (all.exists(other => (other ne its) && valueOf(other).nonEmpty)) {
        throw ChangelogErrors.unsupportedOperator(
          value.sql,
          s"Spark runs the operators of statement ${its.name} by itself, and other statements may " +
            "read other values",
          "run that statement as a query of its own"
        )
      }
  }

  /** What a statement must be to begin later than the set. */
  private def requireBegin(its: Statement, from: String, isNew: Boolean): Unit = {
    def refuse(what: String, reason: String, instead: String) =
      throw ChangelogErrors.unsupportedOperator(s"$what of statement ${its.name}", reason, instead)
    def changes = !its.isSparks &&
      PlanQuery.changes(its.query, its.mode, reading.copy(isTrial = true))._2.facts.changes !=
      Changes.InsertOnly
    def readsOnce = !its.isSparks && rows(its, reading.copy(isTrial = true))._1.exists {
      case _: ReadOnce => true
      case _ => false
    }
    from match {
      case "now"
          if its.mode == OutputMode.Complete() || SharableNodes.hasState(its.query) ||
            changes =>
        refuse("The state", "without earlier rows its result would be wrong", "begin at the start")
      case "start" if its.query.exists(_.isInstanceOf[EventTimeWatermark]) =>
        refuse(
          "The watermark",
          "the watermark of the set has passed the earlier rows, which would be late",
          "start a set of its own")
      case "start" | "now" if isNew && readsOnce =>
        refuse(
          "The table",
          "it is read in the first micro-batch of the set, which is over",
          "join it where no row of it is kept, or start a set of its own")
      case _ => ()
    }
  }

  private def requireOneGroup(all: Seq[Statement]): Unit = {
    val readers = for {
      its <- all
      node <- its.query.collect { case node if varying.isAt(node) => node }
    } yield (SharableNodes.withoutNames(node).canonicalized, its, node)
    readers.groupBy(_._1).values.filter(_.map(_._2.group).distinct.size > 1).foreach { same =>
      val (_, its, node) = same.maxBy(_._2.group)
      throw ChangelogErrors.unsupportedOperator(
        varying.of(node).fold(node.nodeName)(_.sql),
        s"statement ${its.name} came later into the set than others that read its values",
        "start a set of its own, or all statements with a new checkpoint"
      )
    }
  }

  private def statement(name: String, mode: String, query: LogicalPlan): Statement = {
    if (!query.isStreaming) {
      throw ChangelogErrors.unsupportedOperator(
        "A statement set",
        s"the query of statement $name is not streaming",
        "write it by itself")
    }
    val output = outputModeOf(mode)
    val its = Statement(name, output, query, isSparks = false, group = 0)
    Try(rows(its, reading.copy(isTrial = true))) match {
      case Success(_) => its
      // Spark may run by itself what cannot be read as operators.
      case Failure(_: AnalysisException)
          if output == OutputMode.Append() && QueryKinds.refusal(query, output).isEmpty &&
            !QueryKinds.tellsRowKinds(query) && !refusesHint(query) => its.copy(isSparks = true)
      case Failure(unsupported) => throw unsupported
    }
  }

  /** Whether a hint stands at a join of streams, which Spark's does not know. */
  private def refusesHint(query: LogicalPlan): Boolean =
    reading.begun.version >= PlanVersion.joinsAgain && QueryKinds.hasHintAtJoin(query)

  /** What a statement writes, and its operators, if they are not Spark's. */
  private def rows(its: Statement, reading: Reading): (LogicalPlan, Option[Inferred]) =
    if (its.isSparks) (its.query, None)
    else UpsertWrite.of(its.query) match {
      case Some(upserts) =>
        val (plan, inferred) = PlanQuery.records(its.query, upserts, its.mode, reading)
        (plan, Some(inferred))
      case None if its.mode == OutputMode.Complete() =>
        val whole = PlanQuery.table(its.query, reading)
        (whole.unsorted, Some(whole.inferred))
      case None =>
        val (plan, inferred) = PlanQuery.changes(its.query, its.mode, reading)
        (Project(MarkChanges(plan.output, inferred), plan), Some(inferred))
    }

  /** A digest of the filters and columns with which a statement reads parts, and they others. */
  private def readsOf(statement: Inferred, parts: Seq[FindShared.Part]): String = {
    val ofPart = parts.map(its => its.part.id -> its.reads).toMap
    def texts(reads: Map[Int, Seq[String]]): Seq[String] = reads.toSeq.flatMap { case (part, own) =>
      own ++ ofPart.get(part).toSeq.flatMap(texts)
    }
    val all = texts(new DescribeMembers(begun.version).readers(statement))
    if (all.isEmpty) "" else Digest.of(all.sorted.mkString("\n"))
  }
}

private[rules] object RewriteStatements {

  /**
   * @param record of the set, without operators
   * @param declined why parts that several statements read are computed for each
   */
  final case class Planned(plan: LogicalPlan, record: SetRecord, declined: Seq[String])

  /**
   * The shared parts of a group, and its queries that read them, by the names of the statements.
   *
   * @param names of the statements that may have parts
   * @param number how many parts there are, with those of the groups before
   */
  final private case class Parts(
      parts: Seq[FindShared.Part],
      queries: Map[String, LogicalPlan],
      names: Seq[String],
      declined: Seq[String],
      number: Int)

  private object Parts {
    val empty: Parts = Parts(Nil, Map.empty, Nil, Nil, 0)
  }

  private def modeOf(its: Statement): String = its.mode.toString.toLowerCase(Locale.ROOT)

  /**
   * @param isSparks whether Spark runs it by itself, beside the others
   * @param group the number of its group
   */
  final case class Statement(
      name: String,
      mode: OutputMode,
      query: LogicalPlan,
      isSparks: Boolean,
      group: Int) {
    def emit: WindowsEmit =
      if (UpsertWrite.of(query).nonEmpty) WindowsEmit.AtOnce
      else QueryKinds.emitOf(query, mode)
  }
}

/** A query that is a statement set, with nothing but names above it. */
private[rules] object WholeSet {
  @tailrec
  def unapply(query: LogicalPlan): Option[StatementQueries] = query match {
    case set: StatementQueries => Some(set)
    case SubqueryAlias(_, child) => unapply(child)
    case view: View => unapply(view.child) // a client's query is explained as a view
    case Project(columns, child) if columns == child.output => unapply(child)
    case _ => None
  }
}

package io.firesteel.changelog.rules

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.plan.lower.{MarkChanges, SinkRows}
import io.firesteel.changelog.plan.parse.WindowsEmit
import io.firesteel.changelog.plan.share.{SharedPart, SharedPlans, SharedView}
import io.firesteel.changelog.state.BegunPlan
import io.firesteel.changelog.statements.StatementQueries

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{Alias, CreateNamedStruct, Literal, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, SubqueryAlias, Union}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.firesteel.outputModeOf
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.types.IntegerType

/**
 * Plans the queries of a statement set as one query: what several of them compute is a shared part,
 * and the rows of all are another, which the sinks read one after the other.
 *
 * @param durableIn the folder for rows that would have other values if they were computed again
 */
final private[rules] class RewriteStatements(begun: BegunPlan, durableIn: Option[String]) {
  import RewriteStatements._

  private val reading = Reading(None, begun, hasParts = true)

  def apply(set: StatementQueries): Planned = {
    val queries = OneSource(OneView(set.children.map(WholeQuery(begun.version, _))))
      .map(SharableNodes.belowNames)
    val asked = set.names.zip(set.modes).zip(queries).map { case ((name, mode), query) =>
      statement(name, mode, query)
    }
    requireOneValue(asked)
    val found = new FindShared(
      asked.filterNot(_.isSparks).map(its => FindShared.Query(its.query, its.emit)),
      new PlanParts(reading, durableIn),
      onlyState = false)()
    val readers = found.queries.iterator
    val all = tagged(asked.map { its =>
      rows(if (its.isSparks) its else its.copy(query = readers.next()), reading)
    })
    val (parts, plans) = found.parts.unzip
    val plan = if (asked.size == 1) {
      // One sink reads the rows, as that of an ordinary query.
      SinkRows(if (parts.isEmpty) all else SharedPlans(parts, plans :+ all))
    } else {
      val sink = new SharedPart(parts.size, "sink", kind = None, branches = asked.size)
      SharedPlans(parts :+ sink, plans :+ all :+ SharedView(sink, all.output))
    }
    Planned(plan, parts.map(_.toString), found.declined)
  }

  /** Spark computes its own operators for each statement, with other values in each. */
  private def requireOneValue(all: Seq[Statement]): Unit = {
    def varying(its: Statement) =
      its.query.collect { case node => SharableNodes.varying(node) }.flatten.headOption
    for (its <- all.find(_.isSparks); value <- varying(its))
      if (all.exists(other => (other ne its) && varying(other).nonEmpty)) {
        throw ChangelogErrors.unsupportedOperator(
          value.sql,
          s"Spark runs the operators of statement ${its.name} by itself, and other statements may " +
            "read other values",
          "run that statement as a query of its own"
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
    val its = Statement(name, output, query, isSparks = false)
    Try(rows(its, reading.copy(isTrial = true))) match {
      case Success(_) => its
      // Spark may run by itself what cannot be read as operators.
      case Failure(_: AnalysisException)
          if output == OutputMode.Append() && QueryKinds.refusal(query, output).isEmpty &&
            !QueryKinds.tellsRowKinds(query) => its.copy(isSparks = true)
      case Failure(unsupported) => throw unsupported
    }
  }

  /** What a statement writes. */
  private def rows(its: Statement, reading: Reading): LogicalPlan =
    if (its.isSparks) its.query
    else UpsertWrite.of(its.query) match {
      case Some(upserts) => PlanQuery.records(its.query, upserts, its.mode, reading)._1
      case None if its.mode == OutputMode.Complete() => PlanQuery.table(its.query, reading).unsorted
      case None =>
        val (plan, inferred) = PlanQuery.changes(its.query, its.mode, reading)
        Project(MarkChanges(plan.output, inferred), plan)
    }

  /** The rows of all statements, each with its number. */
  private def tagged(branches: Seq[LogicalPlan]): LogicalPlan = {
    val structs = branches.map(branch => DataTypeUtils.fromAttributes(branch.output))
    val rows = branches.zipWithIndex.map { case (branch, i) =>
      val columns: Seq[NamedExpression] = structs.zipWithIndex.map { case (struct, j) =>
        val value =
          if (i != j) Literal(null, struct)
          else CreateNamedStruct(branch.output.flatMap(c => Seq(Literal(c.name), c)))
        Alias(value, s"s$j")()
      }
      Project(Alias(Literal(i, IntegerType), "statement")() +: columns, branch)
    }
    if (rows.size == 1) rows.head else Union(rows)
  }
}

private[rules] object RewriteStatements {

  /**
   * @param parts the shared parts, in their order
   * @param declined why parts that several statements read are computed for each
   */
  final case class Planned(plan: LogicalPlan, parts: Seq[String], declined: Seq[String])

  /** @param isSparks whether Spark runs it by itself, beside the others */
  final case class Statement(
      name: String,
      mode: OutputMode,
      query: LogicalPlan,
      isSparks: Boolean) {
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
    case Project(columns, child) if columns == child.output => unapply(child)
    case _ => None
  }
}

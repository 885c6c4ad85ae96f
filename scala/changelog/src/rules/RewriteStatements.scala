package io.firesteel.changelog.rules

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.plan.lower.{MarkChanges, SinkRows}
import io.firesteel.changelog.plan.parse.WindowsEmit
import io.firesteel.changelog.plan.share.{SharedPart, SharedPlans, SharedView}
import io.firesteel.changelog.state.BegunPlan
import io.firesteel.changelog.statements.StatementSet

import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{Alias, CreateNamedStruct, Literal, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, SubqueryAlias, Union}
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.catalyst.types.DataTypeUtils
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

  def apply(set: StatementSet): LogicalPlan = {
    val queries = OneSource(OneView(set.children.map(RewriteStreamingWrite.read(begun, _))))
      .map(SharableNodes.belowNames)
    val asked = set.names.zip(set.modes).zip(queries).map { case ((name, mode), query) =>
      statement(name, mode, query)
    }
    requireOneValue(asked)
    val (own, shared) = asked.partition(_.isSparks)
    val found = new FindShared(
      shared.map(its => FindShared.Query(its.query, its.emit)),
      new PlanParts(begun, isSparks = false, durableIn),
      onlyState = false)()
    found.declined.foreach(reason => RewriteStreamingWrite.warn(reason))
    val reading = shared.zip(found.queries).map { case (its, query) =>
      its.name -> its.copy(query = query)
    }.toMap
    val branches = asked.map(its => reading.getOrElse(its.name, own.find(_.name == its.name).get))
      .map(planned)
    val all = tagged(branches)
    val (parts, plans) = found.parts.unzip
    if (branches.size == 1) {
      // One sink reads the rows, as that of an ordinary query.
      SinkRows(if (parts.isEmpty) all else SharedPlans(parts, plans :+ all))
    } else {
      val root = new SharedPart(parts.size, "sink", kind = None, branches = branches.size)
      SharedPlans(parts :+ root, plans :+ all :+ SharedView(root, all.output))
    }
  }

  /** Spark computes its own operators for each statement, with other values in each. */
  private def requireOneValue(all: Seq[Statement]): Unit = {
    def varying(its: Statement) = its.query.collect { case node =>
      node.expressions.find(!_.deterministic)
    }.flatten.headOption
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
    val output = mode match {
      case "update" => OutputMode.Update()
      case "complete" => OutputMode.Complete()
      case _ => OutputMode.Append()
    }
    val its = Statement(name, output, query, isSparks = false)
    Try(planned(its)) match {
      case Success(_) => its
      // Spark may run by itself what cannot be read as operators.
      case Failure(_: AnalysisException)
          if output == OutputMode.Append() &&
            RewriteStreamingWrite.refusal(query, output).isEmpty &&
            !RewriteStreamingWrite.tellsRowKinds(query) => its.copy(isSparks = true)
      case Failure(unsupported) => throw unsupported
    }
  }

  private def planned(its: Statement): LogicalPlan =
    if (its.isSparks) its.query
    else RewriteStreamingWrite.recordsOf(its.query, its.mode, begun).getOrElse(rows(its))

  private def rows(its: Statement): LogicalPlan =
    if (its.mode == OutputMode.Complete()) {
      RewriteStreamingWrite.wholeOf(its.query, begun)
    } else {
      val (plan, inferred) = RewriteStreamingWrite.changesOf(its.query, its.mode, begun)
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

  /** @param isSparks whether Spark runs it by itself, beside the others */
  final case class Statement(
      name: String,
      mode: OutputMode,
      query: LogicalPlan,
      isSparks: Boolean) {
    def emit: WindowsEmit =
      if (UpsertWrite.of(query).nonEmpty) WindowsEmit.AtOnce
      else RewriteStreamingWrite.emitOf(query, mode)
  }
}

/** A streaming query that is a statement set, with nothing but names above it. */
private[rules] object StatementSetWrite {
  def unapply(write: WriteToStreamStatement): Option[StatementSet] = of(write.inputQuery)

  private def of(query: LogicalPlan): Option[StatementSet] = query match {
    case set: StatementSet => Some(set)
    case SubqueryAlias(_, child) => of(child)
    case Project(columns, child) if columns == child.output => of(child)
    case _ => None
  }
}

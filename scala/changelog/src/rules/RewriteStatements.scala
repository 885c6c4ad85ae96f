package io.firesteel.changelog.rules

import io.firesteel.changelog.plan.lower.MarkChanges
import io.firesteel.changelog.plan.parse.{ReadWindows, WindowsEmit}
import io.firesteel.changelog.plan.share.{FindShared, OneSource, SharedPart, SharedPlans, SharedView}
import io.firesteel.changelog.state.BegunPlan
import io.firesteel.changelog.statements.StatementSet

import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{Alias, CreateNamedStruct, Literal, NamedExpression, RankLike, RowNumberLike, WindowExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, SubqueryAlias, Union, View, Window}
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
    val asked = set.names.zip(set.modes).zip(set.children).map { case ((name, mode), query) =>
      statement(name, mode, query)
    }
    val (shared, own) = asked.zip(OneSource(asked.map(_.query)))
      .map { case (its, query) => its.copy(query = query) }
      .partition(!_.isSparks)
    val found = new FindShared(
      shared.map(its => FindShared.Query(its.query, its.emit)),
      new Parts)()
    found.declined.foreach(reason => RewriteStreamingWrite.warn(reason))
    val reading = shared.zip(found.queries).map { case (its, query) =>
      its.name -> its.copy(query = query)
    }.toMap
    val branches = asked.map(its => reading.getOrElse(its.name, own.find(_.name == its.name).get))
      .map(planned)
    val all = tagged(branches)
    val root = SharedPart.ofSink(found.parts.size, all.output)
    SharedPlans(
      found.parts.map(_._1) :+ root,
      found.parts.map(_._2) :+ all :+ SharedView(root, all.output))
  }

  private def statement(name: String, mode: String, query: LogicalPlan): Statement = {
    val whole = RewriteStreamingWrite.read(begun, query)
    val output = mode match {
      case "update" => OutputMode.Update()
      case "complete" => OutputMode.Complete()
      case _ => OutputMode.Append()
    }
    val its = Statement(name, output, whole, isSparks = false)
    Try(planned(its)) match {
      case Success(_) => its
      // Spark may run by itself what cannot be read as operators.
      case Failure(_: AnalysisException)
          if output == OutputMode.Append() &&
            RewriteStreamingWrite.refusal(whole, output).isEmpty &&
            !RewriteStreamingWrite.tellsRowKinds(whole) => its.copy(isSparks = true)
      case Failure(unsupported) => throw unsupported
    }
  }

  private def planned(its: Statement): LogicalPlan =
    if (its.isSparks) its.query
    else if (its.mode == OutputMode.Complete()) {
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
    val union = if (rows.size == 1) rows.head else Union(rows)
    union
  }

  private class Parts extends FindShared.Planner {

    override def refusal(
        plan: LogicalPlan,
        emit: WindowsEmit,
        isBelowState: Boolean): Option[String] =
      Try(RewriteStreamingWrite.partOf(plan, emit, begun)) match {
        case Failure(_: AnalysisException) => Some("a part of the query cannot stand by itself")
        case Failure(other) => throw other
        case Success((_, _, inferred)) =>
          val timed = inferred.facts.eventTimes.nonEmpty || ReadWindows.areIn(plan)
          if (isBelowState && timed) Some("its watermark would not reach the operators above it")
          else if (isRankedWithoutLimit(plan)) Some("a filter above may limit its places")
          else None
      }

    override def plan(
        id: Int,
        plan: LogicalPlan,
        emit: WindowsEmit,
        varies: Boolean): (SharedPart, LogicalPlan) = {
      val (rows, kind, inferred) = RewriteStreamingWrite.partOf(plan, emit, begun)
      (SharedPart(id, plan.output, kind, inferred, durableIn.filter(_ => varies)), rows)
    }
  }
}

private[rules] object RewriteStatements {

  /**
   * @param isSparks whether Spark runs it by itself, beside the others
   */
  final case class Statement(
      name: String,
      mode: OutputMode,
      query: LogicalPlan,
      isSparks: Boolean) {
    def emit: WindowsEmit = RewriteStreamingWrite.emitOf(query, mode)
  }

  /** `row_number()` and the like, whose bound is in a filter above. */
  private def isRankedWithoutLimit(plan: LogicalPlan): Boolean = plan match {
    case _: Project | _: SubqueryAlias | _: View => isRankedWithoutLimit(plan.children.head)
    case window: Window => window.windowExpressions.exists(_.exists {
        case WindowExpression(_: RankLike | _: RowNumberLike, _) => true
        case _ => false
      })
    case _ => false
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

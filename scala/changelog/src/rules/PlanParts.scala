package io.firesteel.changelog.rules

import io.firesteel.changelog.plan.lower.{DescribeMembers, PartReader}
import io.firesteel.changelog.plan.parse.{ReadWindows, WindowsEmit}
import io.firesteel.changelog.plan.share.SharedPart

import scala.collection.mutable
import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{DenseRank, Expression, Rank, RowNumber, WindowExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, Window}

/**
 * Plans the shared parts of a query.
 *
 * @param reading how the query is read
 * @param durableIn the folder for rows that would have other values if they were computed again
 * @param group the number of the statements' group, whose parts have keys of their own
 */
final private[rules] class PlanParts(
    reading: Reading,
    durableIn: Option[String],
    group: Int = 0)
  extends FindShared.Planner {

  private val keys = mutable.HashMap.empty[String, Int]

  override def refusal(
      plan: LogicalPlan,
      emit: WindowsEmit,
      isBelowState: Boolean): Option[String] =
    Try(ReadOperators.part(plan, emit, reading.copy(isTrial = true))) match {
      case Failure(_: AnalysisException) => Some("a part of the query cannot stand by itself")
      case Failure(other) => throw other
      case Success((_, _, inferred)) =>
        val timed = inferred.facts.eventTimes.nonEmpty || ReadWindows.areIn(plan)
        if (isBelowState && timed) Some("its watermark would not reach the operators above it")
        else if (isRankedWithoutLimit(plan) && PartReader.isUnbounded(inferred))
          Some("a filter above may limit its places")
        else None
    }

  override def plan(
      id: Int,
      plan: LogicalPlan,
      emit: WindowsEmit,
      varies: Boolean,
      key: String,
      readers: Seq[Expression]): FindShared.Planned = {
    val (rows, kind, inferred) = ReadOperators.part(plan, emit, reading, readers)
    // Parts of several streams may have one key.
    val times = keys.updateWith(key)(_.map(_ + 1).orElse(Some(0))).get
    val own = s"$group-$key" + (if (times == 0) "" else s"-$times")
    val durable =
      durableIn.filter(_ => varies).map(SharedPart.Durable(_, own))
    val part =
      new SharedPart(id, PartReader.nameOf(inferred), kind, durable, key = own, group = Some(group))
    val describe = new DescribeMembers(reading.begun.version)
    FindShared.Planned(
      part,
      rows,
      describe.readers(inferred),
      PartReader(
        part,
        plan.output,
        inferred,
        describe.texts(inferred, plan.output),
        describe.asked(inferred)))
  }

  /** `row_number()` and the like, whose bound is in a filter above. */
  private def isRankedWithoutLimit(plan: LogicalPlan): Boolean = plan match {
    case _: Project | _: Filter => isRankedWithoutLimit(plan.children.head)
    case window: Window => window.windowExpressions.exists(_.exists {
        case WindowExpression(_: Rank | _: DenseRank | _: RowNumber, _) => true
        case _ => false
      })
    case _ => false
  }
}

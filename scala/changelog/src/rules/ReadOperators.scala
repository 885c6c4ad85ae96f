package io.firesteel.changelog.rules

import io.firesteel.changelog.common.{ChangelogConf, ShortDecimals}
import io.firesteel.changelog.plan.{ChangelogOperator, InferChangelog, Inferred, PruneColumns}
import io.firesteel.changelog.plan.lower.{LowerOperators, ReadersBelow}
import io.firesteel.changelog.plan.parse.{ParseQuery, Repeatable, TablesOnce, WindowsEmit}
import io.firesteel.changelog.state.{BegunPlan, PlanVersion}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.internal.SQLConf

/**
 * How a query is read as operators.
 *
 * @param refused Spark's reason for refusing it, if it does
 * @param begun how its checkpoint began
 * @param isSparks whether Spark could run it by itself: a time to live has no effect there
 * @param hasParts whether its shared parts have been found
 * @param isTrial whether the plan is not run: the log has nothing of its cost
 */
final private[rules] case class Reading(
    refused: Option[String],
    begun: BegunPlan,
    isSparks: Boolean = false,
    hasParts: Boolean = false,
    isTrial: Boolean = false) {
  def sharesParts: Boolean = begun.choices.sharesParts && !hasParts
}

/** Reads queries as operators of a changelog, and parts of queries as plans. */
private[rules] object ReadOperators extends Logging {

  /** @param keepsRows whether the whole result is in state, as in complete mode */
  def apply(
      query: LogicalPlan,
      updateBefore: Boolean,
      reading: Reading,
      emit: WindowsEmit = WindowsEmit.AtOnce,
      keepsRows: Boolean = false): ChangelogOperator = {
    val ttlMs = if (reading.isSparks) 0L else SQLConf.get.getConf(ChangelogConf.STATE_TTL)
    val parse = new ParseQuery(updateBefore, reading.refused, reading.begun, emit, ttlMs)
    val asked =
      if (reading.begun.version >= PlanVersion.shortDecimals) ShortDecimals(query) else query
    val read = PruneColumns(parse.read(asked))
    Repeatable.require(read)
    if (!keepsRows) TablesOnce.require(read)
    if (!reading.isTrial) CostNotes(read).distinct.foreach(note => logWarning(note))
    read
  }

  /**
   * Every change of a part of a query, with the column of kinds; none if its rows only come.
   *
   * @param readers the conditions of those that read it, if all have one
   */
  def part(
      query: LogicalPlan,
      emit: WindowsEmit,
      reading: Reading,
      readers: Seq[Expression] = Nil): (LogicalPlan, Option[Attribute], Inferred) = {
    val version = reading.begun.version
    val asked = if (version < PlanVersion.readersBelow) Nil else readers
    val below = new ReadersBelow(Repeatable.isFree(_, version))
    val read = below(apply(query, updateBefore = true, reading, emit), asked)
    val inferred = InferChangelog(read, updateBefore = true)
    val written =
      if (emit == WindowsEmit.Copied) LowerOperators.complete(inferred, reading.begun)
      else LowerOperators(inferred, reading.begun)
    (
      Project(outputOf(query, written.plan) ++ written.kind, written.plan),
      written.kind,
      inferred)
  }

  /** The columns of a query in the plan that it is written as. */
  def outputOf(query: LogicalPlan, written: LogicalPlan): Seq[NamedExpression] =
    query.output.map((a: Attribute) => written.output.find(_.exprId == a.exprId).get)
}

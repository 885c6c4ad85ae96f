package io.firesteel.skew

import io.firesteel.core.CoreConf
import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.UnresolvedHaving
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, TimeWindow}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Distinct, Expand, Filter, Generate, LogicalPlan, Project, SubqueryAlias, UnresolvedHint}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.IntegerType

/**
 * Attaches the hints `TWO_PHASE`, `TWO_PHASE(buckets)` and `ONE_PHASE` to their aggregate.
 *
 * The hint is above the whole `SELECT`, before Spark knows whether the `SELECT` aggregates: without
 * `GROUP BY` Spark knows it only after it has resolved functions. So this rule, one of the hint
 * rules, marks the input. [[ApplyPhasesHint]] later finds the aggregate above the mark.
 */
object ResolvePhasesHint extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case UnresolvedHint(name, parameters, child) if isOurs(name) =>
      if (isEnabled) marked(hintOf(name, parameters), name, child) else child
  }

  private def isEnabled: Boolean =
    SQLConf.get.getConf(CoreConf.ENABLED) && SQLConf.get.getConf(SkewConf.ENABLED)

  private def isOurs(name: String): Boolean =
    Set("TWO_PHASE", "ONE_PHASE").contains(name.toUpperCase(Locale.ROOT))

  private def hintOf(name: String, parameters: Seq[Any]): PhasesHint =
    (name.toUpperCase(Locale.ROOT), parameters) match {
      case ("ONE_PHASE", Nil) => PhasesHint.OnePhase
      case ("TWO_PHASE", Nil) => PhasesHint.TwoPhase(None)
      case ("TWO_PHASE", Seq(Literal(buckets: Int, IntegerType))) if buckets > 0 =>
        PhasesHint.TwoPhase(Some(buckets))
      case ("TWO_PHASE", Seq(buckets: Int)) if buckets > 0 => PhasesHint.TwoPhase(Some(buckets))
      case _ => throw SkewErrors.malformedHint(name, parameters.map(textOf))
    }

  private def textOf(parameter: Any): String = parameter match {
    case e: Expression => e.sql
    case other => other.toString
  }

  private def marked(hint: PhasesHint, name: String, block: LogicalPlan): LogicalPlan = {
    def mark(plan: LogicalPlan): LogicalPlan = plan match {
      case aggregate: Aggregate => aggregate.copy(child = HintedInput(hint, aggregate.child))
      // A DataFrame has its aggregate already; in SQL an unresolved projection may still become
      // one.
      case project: Project if !project.resolved =>
        project.copy(child = HintedInput(hint, project.child))
      case node @ (_: Project | _: Filter | _: UnresolvedHaving | _: Distinct | _: SubqueryAlias) =>
        node.mapChildren(mark)
      case _ => throw SkewErrors.nothingToHint(name)
    }
    mark(block)
  }
}

/** Moves each hint to the aggregate above its [[HintedInput]]. */
object ApplyPhasesHint extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    // Spark reports errors of the query below. An unresolved plan cannot be asked for its output.
    case aggregate: Aggregate if aggregate.childrenResolved =>
      val (child, hint) = take(aggregate.child)
      hint.fold[LogicalPlan](aggregate)(PhasesHint.give(aggregate.copy(child = child), _))
  }

  /**
   * Looks below the nodes that Spark puts between the two: grouping sets, time windows, computed
   * columns.
   *
   * @param windows whether there is a window above, which filters rows without a time
   */
  private def take(
      plan: LogicalPlan,
      windows: Boolean = false): (LogicalPlan, Option[PhasesHint]) = {
    val hasWindow = windows || plan.output.exists(_.metadata.contains(TimeWindow.marker))
    plan match {
      case HintedInput(hint, child) => (child, Some(hint))
      case _: Expand | _: Project => takeBelow(plan, hasWindow)
      case _: Generate | _: Filter if hasWindow => takeBelow(plan, hasWindow)
      case _ => (plan, None)
    }
  }

  private def takeBelow(plan: LogicalPlan, windows: Boolean): (LogicalPlan, Option[PhasesHint]) = {
    val (child, hint) = take(plan.children.head, windows)
    (if (hint.isEmpty) plan else plan.withNewChildren(Seq(child)), hint)
  }
}

/** Raises an error for a hint whose `SELECT` does not aggregate. */
object CheckPhasesHint extends (LogicalPlan => Unit) {
  override def apply(plan: LogicalPlan): Unit = plan.foreachWithSubqueries {
    case HintedInput(hint, _) => throw SkewErrors.nothingToHint(hint.name)
    case _ => ()
  }
}

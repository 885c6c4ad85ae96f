package io.firesteel.panes

import io.firesteel.core.decide.Decline
import io.firesteel.core.windows.PaneGrid
import java.util.Locale

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.{BaseGroupingSets, Expression, TimeWindow}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.UNRESOLVED_FUNCTION
import org.apache.spark.sql.firesteel.hasNullTreatment
import org.apache.spark.sql.internal.SQLConf

/**
 * Replaces `window()` by one expression for all windows of a row, before Spark's analyser expands
 * it.
 *
 * Spark makes one expression for each copy of a row, and its analyser and optimizer visit each of
 * them many times. This takes a second for the 1,440 windows of a day by a minute, even if there
 * are few rows.
 *
 * The rule takes calls in an aggregate if all calls are equal, durations are constant, and a row
 * has at least `spark.firesteel.panes.foldFrom` windows. It runs before names are resolved.
 * [[ResolveFoldedWindows]] and [[KeepFoldedWindows]] check later what is not known yet.
 */
final class FoldWindows(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.containsPattern(UNRESOLVED_FUNCTION) ||
      Decline.switchedOff("panes", PanesConf.ENABLED).nonEmpty || !mayFold(plan)) plan
    else plan.resolveOperatorsUp {
      case aggregate: Aggregate if !aggregate.groupingExpressions.exists(_.exists(isGroupingSet)) =>
        foldedIn(aggregate).fold[LogicalPlan](aggregate) { window =>
          aggregate.transformExpressionsUp { case call if isWindow(call) => window }
        }
    }

  /**
   * Whether every call is in an aggregate, and calls Spark's function. A call elsewhere, such as in
   * HAVING, has to match the one in the aggregate, so the plan then keeps Spark's expressions.
   */
  private def mayFold(plan: LogicalPlan): Boolean = {
    val (within, outside) = plan.collect {
      case node
          if node.containsPattern(UNRESOLVED_FUNCTION) &&
            node.expressions.exists(_.exists(isAnyWindow)) => node
    }.partition(_.isInstanceOf[Aggregate])
    within.nonEmpty && outside.isEmpty && isSparksFunction
  }

  /** The only window of an aggregate. None if there are several, which Spark rejects. */
  private def foldedIn(aggregate: Aggregate): Option[FoldedWindow] = {
    val calls = aggregate.expressions.flatMap(_.collect {
      case call: UnresolvedFunction if isAnyWindow(call) => call
    })
    calls.map(folded).distinct match {
      case Seq(one) => one
      case _ => None
    }
  }

  private def isGroupingSet(e: Expression): Boolean = e.isInstanceOf[BaseGroupingSets]

  private def isWindow(e: Expression): Boolean = nameParts(e) == Seq("window")

  /** Whether it may be a time window under a qualified name, such as `builtin.window`. */
  private def isAnyWindow(e: Expression): Boolean =
    nameParts(e).lastOption.exists(Set("window", "session_window"))

  private def nameParts(e: Expression): Seq[String] = e match {
    case call: UnresolvedFunction => call.nameParts.map(_.toLowerCase(Locale.ROOT))
    case _ => Nil
  }

  /** Whether `window` is Spark's function, and not one of the user or of another extension. */
  private def isSparksFunction: Boolean = {
    val state = session.sessionState
    val name = FunctionIdentifier("window")
    // Older versions have it without a catalog, in one list with the user's functions.
    val builtIn = FunctionIdentifier("window", Some("builtin"), Some("system"))
    !state.catalog.isTemporaryFunction(name) &&
    state.functionRegistry.lookupFunction(builtIn)
      .orElse(state.functionRegistry.lookupFunction(name))
      .exists(_.getClassName == classOf[TimeWindow].getName)
  }

  private def folded(call: UnresolvedFunction): Option[FoldedWindow] = {
    val plain =
      isWindow(call) && !call.isDistinct && call.filter.isEmpty && !hasNullTreatment(call) &&
        call.orderingWithinGroup.isEmpty
    // An invalid call stays as it is, so that Spark raises its own error.
    val window = call.arguments match {
      case Seq(time, size, slide) if plain => Try(new TimeWindow(time, size, slide)).toOption
      case Seq(time, size, slide, start) if plain =>
        Try(new TimeWindow(time, size, slide, start)).toOption
      case _ => None
    }
    window
      .filter(w => w.startTime.abs < w.slideDuration && w.windowDuration <= PaneGrid.longest)
      .filter(w => w.windowDuration / w.slideDuration >= SQLConf.get.getConf(PanesConf.FOLD_FROM))
      .map(w => FoldedWindow(w.timeColumn, w.windowDuration, w.slideDuration, w.startTime))
  }
}

package io.firesteel.panes

import io.firesteel.core.decide.Decline
import java.util.Locale

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.{BaseGroupingSets, Expression, TimeWindow}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.UNRESOLVED_FUNCTION
import org.apache.spark.sql.internal.SQLConf

/**
 * Takes sliding windows out of the hands of Spark's analyser, which would write out the expressions
 * of every copy of a row, and its analyser and optimizer then go over each of them again and again:
 * a second for the 1,440 windows of a day by a minute, however few the rows.
 *
 * Only calls in an aggregate, all of them the same, with constant durations and many windows to a row.
 * It runs before names are resolved, and everything that is not certain yet is decided later.
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

  /** A call outside of an aggregate, such as in HAVING, has to mean the same as the one inside. */
  private def mayFold(plan: LogicalPlan): Boolean = {
    val (within, outside) = plan.collect {
      case node
          if node.containsPattern(UNRESOLVED_FUNCTION) &&
            node.expressions.exists(_.exists(isAnyWindow)) => node
    }.partition(_.isInstanceOf[Aggregate])
    within.nonEmpty && outside.isEmpty && isSparksFunction
  }

  /** The one window of an aggregate; nothing when there are others, which Spark refuses. */
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

  /** Whether it may be a window of time, by whatever name it is called: `builtin.window` is one too. */
  private def isAnyWindow(e: Expression): Boolean =
    nameParts(e).lastOption.exists(Set("window", "session_window"))

  private def nameParts(e: Expression): Seq[String] = e match {
    case call: UnresolvedFunction => call.nameParts.map(_.toLowerCase(Locale.ROOT))
    case _ => Nil
  }

  /** A user, or another extension, may have a function of that name. */
  private def isSparksFunction: Boolean = {
    val state = session.sessionState
    val builtIn = FunctionIdentifier("window", Some("builtin"), Some("system"))
    !state.catalog.isTemporaryFunction(FunctionIdentifier("window")) &&
    state.functionRegistry.lookupFunction(builtIn).exists(
      _.getClassName == classOf[TimeWindow].getName)
  }

  private def folded(call: UnresolvedFunction): Option[FoldedWindow] = {
    val plain =
      isWindow(call) && !call.isDistinct && call.filter.isEmpty && call.ignoreNulls.isEmpty &&
        call.orderingWithinGroup.isEmpty
    // What Spark refuses is left for it to refuse.
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

package io.firesteel.changelog.sql

import io.firesteel.changelog.common.{ChangelogConf, ChangelogErrors}
import io.firesteel.core.decide.Decline

import java.util.Locale

import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, GlobalLimit, LocalLimit, LogicalPlan, Offset, Sort, UnaryNode, UnresolvedHint}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types.StringType

/**
 * The hint `STATE_TTL('1d')`: the time to live of the state of all operators below it, down to the
 * next such hint. It overrides [[ChangelogConf.STATE_TTL]].
 */
final private[changelog] case class StateTtl(ms: Long, child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(newChild: LogicalPlan): StateTtl =
    copy(child = newChild)
}

private[changelog] object StateTtl {

  /** The query without its hints, for rules that do not know them. */
  def removed(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(_.isInstanceOf[StateTtl])) plan
    else AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.transformUp { case StateTtl(_, child) => child }
    }
}

/**
 * Reads the hint, among Spark's own hint rules. In SQL the hint stands below the query's `ORDER BY`
 * and `LIMIT`. Spark resolves a sort against the aggregate right below it, so this rule moves the
 * hint above them.
 */
object ResolveStateTtl extends Rule[LogicalPlan] {

  private val name = "STATE_TTL"

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case UnresolvedHint(hint, parameters, child) if hint.toUpperCase(Locale.ROOT) == name =>
      if (isOn) StateTtl(milliseconds(parameters), child) else child
    case sort: Sort =>
      sort.child match {
        case StateTtl(ms, child) => StateTtl(ms, sort.copy(child = child))
        case _ => sort
      }
    case LocalLimit(n, StateTtl(ms, child)) => StateTtl(ms, LocalLimit(n, child))
    case GlobalLimit(n, StateTtl(ms, child)) => StateTtl(ms, GlobalLimit(n, child))
    case Offset(n, StateTtl(ms, child)) => StateTtl(ms, Offset(n, child))
  }

  private def isOn: Boolean = Decline.switchedOff("changelog", ChangelogConf.ENABLED).isEmpty

  private def milliseconds(parameters: Seq[Any]): Long = {
    def wrong() = ChangelogErrors.badStateTtl(parameters.map(textOf).mkString(s"$name(", ", ", ")"))
    val text = parameters match {
      case Seq(Literal(value, StringType)) if value != null => value.toString
      case Seq(value: String) => value
      case _ => throw wrong()
    }
    val ms =
      try JavaUtils.timeStringAsMs(text.replace(" ", ""))
      catch { case _: NumberFormatException => throw wrong() }
    if (ms < 0) throw wrong()
    ms
  }

  private def textOf(parameter: Any): String = parameter match {
    case expression: Expression => expression.sql
    case text: String => s"'$text'"
    case other => String.valueOf(other)
  }
}

/** A batch query keeps no state. */
object RemoveStateTtl extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case StateTtl(_, child) if child.resolved && !child.isStreaming => child
  }
}

package io.firesteel.changelog.sql

import io.firesteel.changelog.common.{ChangelogConf, ChangelogErrors}
import io.firesteel.core.decide.Decline

import java.util.Locale

import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.catalyst.expressions.{Attribute, EqualTo, Expression, Literal}
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
    if (!plan.exists(isHint)) plan
    else AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.transformUp {
        case StateTtl(_, child) => child
        case hint: InputHint => hint.child
      }
    }

  private def isHint(plan: LogicalPlan) =
    plan.isInstanceOf[StateTtl] || plan.isInstanceOf[InputHint]
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
      if (!isOn) child
      else {
        val named = parameters.flatMap(StateTtlPair.of)
        if (named.isEmpty) StateTtl(milliseconds(parameters, parameters), child)
        else if (named.size < parameters.size) throw wrong(parameters)
        else ofInputs(child, named.map(its => its.name -> milliseconds(Seq(its.time), parameters)))
      }
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

  private def milliseconds(time: Seq[Any], written: Seq[Any]): Long = {
    val text = time match {
      case Seq(Literal(value, StringType)) if value != null => value.toString
      case Seq(value: String) => value
      case _ => throw wrong(written)
    }
    val ms =
      try JavaUtils.timeStringAsMs(text.replace(" ", ""))
      catch { case _: NumberFormatException => throw wrong(written) }
    if (ms < 0) throw wrong(written)
    ms
  }

  private def wrong(parameters: Seq[Any]): Throwable =
    ChangelogErrors.badStateTtl(textOf(parameters))

  private def textOf(parameters: Seq[Any]): String = parameters.map {
    case expression: Expression => expression.sql
    case text: String => s"'$text'"
    case other => String.valueOf(other)
  }.mkString(s"$name(", ", ", ")")

  private def ofInputs(block: LogicalPlan, times: Seq[(String, Long)]): LogicalPlan = {
    val ms = times.reverse.toMap
    InputHint.at(block, times.map(_._1).distinct, conf.resolver) { (name, input) =>
      InputHint(Some(ms(name)), isJoined = false, input)
    }(ChangelogErrors.noHintedInput(name, _, _))
  }
}

/** `'name' = 'time'` in SQL, `"name=time"` on a DataFrame. */
final private case class StateTtlPair(name: String, time: Any)

private object StateTtlPair {
  def of(parameter: Any): Option[StateTtlPair] = parameter match {
    case EqualTo(Literal(name, StringType), time) if name != null =>
      Some(StateTtlPair(name.toString.trim, time))
    case Literal(text, StringType) if text != null => of(text.toString)
    case text: String if text.contains('=') =>
      val (name, time) = text.span(_ != '=')
      Some(StateTtlPair(name.trim, time.drop(1).trim))
    case _ => None
  }
}

/** A batch query keeps no state. */
object RemoveStateTtl extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case StateTtl(_, child) if child.resolved && !child.isStreaming => child
    case InputHint(_, _, child) if child.resolved && !child.isStreaming => child
  }
}

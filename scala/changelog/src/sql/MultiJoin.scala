package io.firesteel.changelog.sql

import io.firesteel.changelog.common.{ChangelogConf, ChangelogErrors}
import io.firesteel.core.decide.Decline

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedHint}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types.StringType

/**
 * Reads the hint `MULTI_JOIN(o, c, p)`, among Spark's own hint rules: joins of these inputs by the same
 * keys keep no results of each other, see [[io.firesteel.changelog.plan.JoinBelow]].
 */
object ResolveMultiJoin extends Rule[LogicalPlan] {

  private val name = "MULTI_JOIN"

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case UnresolvedHint(hint, parameters, child) if hint.toUpperCase(Locale.ROOT) == name =>
      if (Decline.switchedOff("changelog", ChangelogConf.ENABLED).nonEmpty) child
      else {
        val names = parameters.map(nameOf)
        if (names.distinct.size < 2)
          throw ChangelogErrors.badMultiJoin(names.mkString(s"$name(", ", ", ")"))
        InputHint.at(child, names.distinct, conf.resolver) { (_, input) =>
          InputHint(None, isJoined = true, input)
        }(ChangelogErrors.noHintedInput(name, _, _))
      }
  }

  private def nameOf(parameter: Any): String = parameter match {
    case input: UnresolvedAttribute => input.nameParts.mkString(".")
    case Literal(text, StringType) if text != null => text.toString.trim
    case other => String.valueOf(other)
  }
}

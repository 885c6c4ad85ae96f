package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.plan.{ChangelogOperator, Projection, UserText}
import org.apache.spark.sql.catalyst.expressions.{CurrentCatalog, CurrentDatabase, CurrentTimeZone, CurrentUser, Expression, SubqueryExpression}
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE

/** Expressions that give the same value again: a retraction must repeat the row as it was emitted. */
private[changelog] object Repeatable {

  /** Requires the columns of all projections to be repeatable; columns that nothing reads are gone. */
  def require(query: ChangelogOperator): Unit = {
    query.inputs.foreach(require)
    query match {
      case Projection(columns, input) => require("Project", columns, input)
      case _ => ()
    }
  }

  private[parse] def require(
      operator: String,
      expressions: Seq[Expression],
      input: ChangelogOperator): Unit =
    if (!input.facts.changes.insertOnly) {
      expressions.find(varies).foreach { e =>
        throw ChangelogErrors.notRepeatable(operator, UserText.of(e))
      }
    }

  /** Whether the expression may have another value when it is evaluated again. */
  private[parse] def varies(expression: Expression): Boolean =
    !expression.deterministic || expression.exists(isCurrent) ||
      SubqueryExpression.hasSubquery(expression)

  /** The current time changes. The zone, user and catalog of a running query do not. */
  private def isCurrent(expression: Expression): Boolean = expression match {
    case _: CurrentTimeZone | _: CurrentUser | _: CurrentDatabase | _: CurrentCatalog => false
    case other =>
      other.containsPattern(CURRENT_LIKE) && !other.children.exists(_.containsPattern(CURRENT_LIKE))
  }
}

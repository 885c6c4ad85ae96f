package io.firesteel.changelog.plan.parse

import org.apache.spark.sql.catalyst.expressions.{CurrentCatalog, CurrentDatabase, CurrentTimeZone, CurrentUser, Expression, SubqueryExpression}
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE

/** Expressions that give the same value again: a retraction must repeat the row as it was emitted. */
private[parse] object Repeatable {

  /** Whether the expression may have another value when it is evaluated again. */
  def varies(expression: Expression): Boolean =
    !expression.deterministic || expression.exists(isCurrent) ||
      SubqueryExpression.hasSubquery(expression)

  /** The current time changes. The zone, user and catalog of a running query do not. */
  private def isCurrent(expression: Expression): Boolean = expression match {
    case _: CurrentTimeZone | _: CurrentUser | _: CurrentDatabase | _: CurrentCatalog => false
    case other =>
      other.containsPattern(CURRENT_LIKE) && !other.children.exists(_.containsPattern(CURRENT_LIKE))
  }
}

package io.firesteel.changelog.rules

import io.firesteel.changelog.plan.lower.ChangelogFilter
import io.firesteel.changelog.plan.share.SharedView
import io.firesteel.changelog.statements.StatementRows

import org.apache.spark.sql.catalyst.expressions.{Expression, SubqueryExpression, UserDefinedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, Union}

/**
 * Whether a plan only chooses among the rows and columns of shared parts: reading it twice gives the
 * same rows, and costs little more than reading rows that were kept.
 */
private[rules] object ReadsParts {

  def apply(plan: LogicalPlan): Boolean = isCheap(plan) && (plan match {
    case _: SharedView => true
    case _: StatementRows | _: Project | _: Filter | _: ChangelogFilter | _: Union =>
      plan.children.forall(apply)
    case _ => false
  })

  private def isCheap(plan: LogicalPlan): Boolean = plan.expressions.forall { value =>
    value.deterministic && !value.exists(isCostly)
  }

  /** A function of the user's, or another query. */
  private def isCostly(value: Expression): Boolean = value match {
    case _: UserDefinedExpression | _: SubqueryExpression => true
    case _ => false
  }
}

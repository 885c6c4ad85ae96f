package io.firesteel.changelog

import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, SubqueryAlias, View}

/** Projections, from above down, and what is below them. */
private[changelog] object Projected {

  def apply(plan: LogicalPlan): (List[Seq[NamedExpression]], LogicalPlan) = plan match {
    case alias: SubqueryAlias => apply(alias.child)
    case view: View => apply(view.child)
    case project: Project =>
      val (lists, below) = apply(project.child)
      (project.projectList :: lists, below)
    case other => (Nil, other)
  }
}

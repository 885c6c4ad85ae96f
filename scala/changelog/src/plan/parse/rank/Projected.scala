package io.firesteel.changelog.plan.parse.rank

import io.firesteel.changelog.sql.{InputHint, StateTtl}
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, SubqueryAlias, View}

/**
 * Projections, topmost first, and the plan below them.
 *
 * @param ttl the time to live of the innermost hint among them
 */
final private[parse] case class Projected(
    lists: List[Seq[NamedExpression]],
    ttl: Option[Long],
    below: LogicalPlan)

private[parse] object Projected {

  def of(plan: LogicalPlan): Projected = plan match {
    case alias: SubqueryAlias => of(alias.child)
    case view: View => of(view.child)
    case InputHint(_, _, child) => of(child)
    case StateTtl(ms, child) =>
      val projected = of(child)
      projected.copy(ttl = projected.ttl.orElse(Some(ms)))
    case project: Project =>
      val projected = of(project.child)
      projected.copy(lists = project.projectList :: projected.lists)
    case other => Projected(Nil, None, other)
  }
}

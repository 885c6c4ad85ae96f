package io.firesteel.changelog.plan.parse.conditions

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Cast, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, View}

/**
 * The columns of views in SQL. Spark casts each to the type that it had when the view was made. If
 * that is the type that it has, it is the column below, with its windows, its time and its keys.
 */
private[changelog] object ViewColumns {

  def passedOn(query: LogicalPlan): LogicalPlan = query.transform { case view: View =>
    view.child match {
      case project: Project =>
        view.copy(child = project.copy(projectList = project.projectList.map(passedOn)))
      case _ => view
    }
  }

  private def passedOn(column: NamedExpression): NamedExpression = column match {
    case alias: Alias =>
      alias.child match {
        case cast: Cast
            if cast.child.isInstanceOf[Attribute] && cast.child.dataType == cast.dataType =>
          alias.withNewChildren(Seq(cast.child)).asInstanceOf[NamedExpression]
        case _ => alias
      }
    case other => other
  }
}

package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.plan.{ChangeEvents, ChangelogOperator, Projection, Selection}
import io.firesteel.changelog.sql.RowKindFunction
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LogicalPlan, Project}
import org.apache.spark.sql.firesteel.isOfDataset

/**
 * `row_kind()` in the SELECT whose HAVING or QUALIFY stands above it in the plan: it leaves rows out, and their
 * changes with them, not some of the changes.
 */
private[changelog] object SelectedKinds {

  /**
   * The SELECT of a GROUP BY: where columns are computed of others of it Spark makes two projections, and one
   * more for each column that is computed of such a one. The lower ones add to what is below them, and none
   * is what a DataFrame gives.
   */
  def isOfGroups(plan: LogicalPlan): Boolean = plan match {
    case _: Aggregate => true
    case project: Project => !isOfDataset(project) && isAboveGroups(project.child)
    case _ => false
  }

  private def isAboveGroups(plan: LogicalPlan): Boolean = !isOfDataset(plan) && (plan match {
    case project: Project =>
      val below = project.child.output
      project.projectList.take(below.size).map(_.toAttribute) == below &&
      (project.child.isInstanceOf[Aggregate] || isAboveGroups(project.child))
    case _ => false
  })

  /** Whether what is below a window is the SELECT that the window is of, and asks for kinds. */
  def areBelow(plan: LogicalPlan): Boolean = !isOfDataset(plan) && (plan match {
    case project: Project =>
      project.projectList.exists(RowKindFunction.isIn) || areBelow(project.child)
    case aggregate: Aggregate => aggregate.aggregateExpressions.exists(RowKindFunction.isIn)
    case filter: Filter => areBelow(filter.child)
    case _ => false
  })

  /** Of a query with kinds the columns that ask for them, and the rows with all that these read. */
  def apart(query: ChangelogOperator): (Seq[NamedExpression], ChangelogOperator) = query match {
    case ChangeEvents(columns, _, input) =>
      val (kinds, others) = columns.partition(RowKindFunction.isIn)
      (kinds, Projection(withReadBy(kinds, others), input))
    case Projection(columns, below) =>
      val (kinds, rows) = apart(below)
      val (ofKinds, others) = columns.partition(reads(_, kinds))
      val told = ofKinds.map(column =>
        kinds.find(_.exprId == column.exprId).getOrElse {
          inTermsOf(kinds, column).asInstanceOf[NamedExpression]
        })
      (told, Projection(withReadBy(told, others), rows))
    case Selection(condition, below) =>
      val (kinds, rows) = apart(below)
      if (reads(condition, kinds)) (Nil, query) else (kinds, Selection(condition, rows))
    case other => (Nil, other)
  }

  /** Columns, and those that the kinds read beside them. */
  def withReadBy(kinds: Seq[NamedExpression], columns: Seq[NamedExpression]): Seq[NamedExpression] =
    columns ++ kinds.flatMap(_.references.toSeq).distinctBy(_.exprId)
      .filterNot(read => columns.exists(_.exprId == read.exprId))

  /** Whether an expression reads one of these columns. */
  def reads(expression: Expression, kinds: Seq[NamedExpression]): Boolean =
    kinds.exists(kind => expression.references.contains(kind.toAttribute))

  /** A condition on a projection's columns as one on what is below. */
  def inTermsOf(columns: Seq[NamedExpression], condition: Expression): Expression = {
    val meaning = columns.collect { case alias: Alias => alias.exprId -> alias.child }.toMap
    condition.transformUp {
      case column: Attribute => meaning.getOrElse(column.exprId, column)
    }
  }
}

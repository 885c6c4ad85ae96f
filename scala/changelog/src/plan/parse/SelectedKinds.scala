package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.plan.{ChangeEvents, ChangelogOperator, Projection, Selection}
import io.firesteel.changelog.sql.RowKindFunction
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LogicalPlan, Project, Window}
import org.apache.spark.sql.firesteel.isOfDataset

/**
 * `row_kind()` in a SELECT with HAVING or QUALIFY, which stand above it in the plan. They filter
 * the rows of the result, with all changes of a row, not single changes.
 */
private[changelog] object SelectedKinds {

  /**
   * Whether the plan is the SELECT of a GROUP BY. If columns are computed from other columns of the
   * SELECT, Spark writes two projections, and one more for each further step. The lower ones only
   * add columns. A DataFrame never gives this shape.
   */
  def isOfGroups(plan: LogicalPlan): Boolean = plan match {
    case _: Aggregate => true
    case project: Project => !isOfDataset(project) && isAboveGroups(project.child)
    case _ => false
  }

  /**
   * Whether the keys are those of `GROUP BY ALL`, all of the SELECT without a call, and a kind is among
   * others: Spark takes it for a key.
   */
  def areKeysOfAll(grouped: Aggregate): Boolean = {
    val keys = grouped.groupingExpressions
    def plain = grouped.aggregateExpressions
      .filterNot(_.exists(_.isInstanceOf[AggregateExpression])).map {
        case Alias(value, _) => value
        case column => column
      }
    val kinds = keys.count(_.isInstanceOf[RowKindFunction])
    kinds > 0 && kinds < keys.size && plain.size == keys.size &&
    plain.zip(keys).forall { case (column, key) => column.semanticEquals(key) }
  }

  private def isAboveGroups(plan: LogicalPlan): Boolean = !isOfDataset(plan) && (plan match {
    case project: Project =>
      val below = project.child.output
      project.projectList.take(below.size).map(_.toAttribute) == below &&
      (project.child.isInstanceOf[Aggregate] || isAboveGroups(project.child))
    case _ => false
  })

  /** Whether the plan below a window is the SELECT of that window and contains `row_kind()`. */
  def areBelow(plan: LogicalPlan): Boolean = !isOfDataset(plan) && (plan match {
    case project: Project =>
      project.projectList.exists(RowKindFunction.isIn) || areBelow(project.child)
    case aggregate: Aggregate => aggregate.aggregateExpressions.exists(RowKindFunction.isIn)
    case filter: Filter => areBelow(filter.child)
    // Another window of the same SELECT.
    case window: Window => areBelow(window.child)
    case _ => false
  })

  /**
   * Splits a query with kinds: the columns with kinds, and the rows with all columns that these
   * read.
   */
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

  /** The columns, and the further columns that the kinds read. */
  def withReadBy(kinds: Seq[NamedExpression], columns: Seq[NamedExpression]): Seq[NamedExpression] =
    columns ++ kinds.flatMap(_.references.toSeq).distinctBy(_.exprId)
      .filterNot(read => columns.exists(_.exprId == read.exprId))

  /** Whether an expression reads one of these columns. */
  def reads(expression: Expression, kinds: Seq[NamedExpression]): Boolean =
    kinds.exists(kind => expression.references.contains(kind.toAttribute))

  /** A condition over a projection's columns as a condition over its input. */
  def inTermsOf(columns: Seq[NamedExpression], condition: Expression): Expression = {
    val meaning = columns.collect { case alias: Alias => alias.exprId -> alias.child }.toMap
    condition.transformUp {
      case column: Attribute => meaning.getOrElse(column.exprId, column)
    }
  }
}

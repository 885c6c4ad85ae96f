package io.firesteel.changelog.upsert

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.sql.RowKindFunction
import io.firesteel.core.changes.ChangelogMetadata
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSet, Cast, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Project, SubqueryAlias, View}
import org.apache.spark.sql.catalyst.rules.Rule

/** Checks `to_upsert`. In a batch query it makes a record of each row. */
private[changelog] object ResolveToUpsert extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case records: ToUpsert if records.resolved =>
      val rows = withoutKind(records.child)
      if (rows.exists(_.expressions.exists(RowKindFunction.isIn))) {
        throw ChangelogErrors.misplacedRowKind(ToUpsertFunction.name)
      }
      if (rows.output.exists(column => ChangelogMetadata.of(column.metadata).nonEmpty)) {
        throw ChangelogErrors.unsupportedOperator(
          ToUpsertFunction.name,
          "its rows are the changes of a micro-batch",
          "to_upsert of the stream, and write the records with format(\"kafka\")")
      }
      val read = records.copy(keys = columns(records.keys, rows), child = rows)
      if (rows.isStreaming) read else read.records(rows, None)
  }

  /**
   * The columns that the keys name. A resolved name is as the user wrote it, perhaps in another
   * case, and JSON tells cases apart. It may also be a function such as `current_date`.
   */
  private def columns(keys: Seq[NamedExpression], rows: LogicalPlan): Seq[Attribute] =
    keys.map { key =>
      rows.output.find(_.exprId == key.exprId).getOrElse(
        throw ChangelogErrors.noKeyColumn(
          ToUpsertFunction.name,
          key.name,
          rows.output.map(_.name)))
    }.distinct

  /**
   * The records tell the kind themselves, so a selected `row_kind()` is left out, also by a view or
   * a projection that passes it on.
   */
  private def withoutKind(plan: LogicalPlan): LogicalPlan = plan match {
    case SubqueryAlias(_, child) => withoutKind(child)
    case view: View =>
      val rows = withoutKind(view.child)
      if (rows.output == view.child.output) view else rows
    case Project(columns, child) =>
      val rows = withoutKind(child)
      val gone = child.outputSet -- rows.outputSet
      val kept = columns.filterNot(c => RowKindFunction.isIn(c) || passesOn(c, gone))
      if (kept.size == columns.size) plan else Project(kept, rows)
    case grouped: Aggregate if grouped.aggregateExpressions.exists(RowKindFunction.isIn) =>
      grouped.copy(aggregateExpressions =
        grouped.aggregateExpressions.filterNot(RowKindFunction.isIn))
    case other => other
  }

  /** A view casts each column to its own type. */
  private def passesOn(column: Expression, of: AttributeSet): Boolean = column match {
    case attribute: Attribute => of.contains(attribute)
    case Alias(child, _) => passesOn(child, of)
    case cast: Cast => passesOn(cast.child, of)
    case _ => false
  }
}

package io.firesteel.changelog.upsert

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.sql.RowKindFunction
import io.firesteel.core.changes.ChangelogMetadata
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Project, SubqueryAlias}
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
      val read = records.copy(child = rows)
      if (rows.isStreaming) read else read.records(rows, None)
  }

  /** The records tell the kind themselves, so a selected `row_kind()` is left out. */
  private def withoutKind(plan: LogicalPlan): LogicalPlan = plan match {
    case SubqueryAlias(_, child) => withoutKind(child)
    case Project(columns, child) if columns.exists(RowKindFunction.isIn) =>
      Project(columns.filterNot(RowKindFunction.isIn), child)
    case grouped: Aggregate if grouped.aggregateExpressions.exists(RowKindFunction.isIn) =>
      grouped.copy(aggregateExpressions =
        grouped.aggregateExpressions.filterNot(RowKindFunction.isIn))
    case other => other
  }
}

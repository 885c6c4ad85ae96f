package io.firesteel.changelog.sql

import io.firesteel.changelog.common.{ChangelogErrors, StateTypes}
import org.apache.spark.sql.catalyst.expressions.{Attribute, RowOrdering}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types.StringType

/** Checks the columns of a changelog source. In a batch query it makes the table. */
object ResolveFromChangelog extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case source: FromChangelog if source.resolved =>
      requireColumns(source)
      if (source.isStreaming) source else TableOfChanges(source)
  }

  private def requireColumns(source: FromChangelog): Unit = {
    def wrong(column: Attribute, role: String, expected: String): Throwable =
      ChangelogErrors.badSourceColumn(source.function, column, role, expected)
    val op = source.opColumn
    if (!op.dataType.isInstanceOf[StringType]) throw wrong(op, "op", "a string")
    (source.keyColumns ++ source.sequenceColumns).find(_.exprId == op.exprId).foreach { column =>
      throw wrong(column, "key or sequence", "another column than op")
    }
    source.sequenceColumns.headOption.filter(_ => source.keys.isEmpty).foreach { column =>
      throw wrong(column, "sequence_by", "of a source with keys: rows are ordered within their key")
    }
    source.sequenceColumns.find(c => !RowOrdering.isOrderable(c.dataType)).foreach { column =>
      throw wrong(column, "sequence_by", "of a type that has an order")
    }
    StateTypes.require(source.function, source.keyColumns)
  }
}

package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.plan.{ChangelogOperator, ComputedColumns, Normalize, Projection, Source, SourceChanges}
import io.firesteel.changelog.sql.{FromChangelog, ValueText}
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, IsNotNull, NamedExpression, XxHash64}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan, Project, SubqueryAlias, View}
import org.apache.spark.sql.firesteel.{hasType, normalizeFloats}
import org.apache.spark.sql.types.{ArrayType, MapType, StructType, VariantType}

/** A changelog source as operators. */
private[parse] object ReadSource {

  /** @param closes whether the watermark closes its times, see [[PlanVersion.changingTimes]] */
  def apply(from: FromChangelog, ttlMs: Long, closes: Boolean): ChangelogOperator =
    from.child match {
      case StatelessSource(rows) if from.keys.isEmpty => whole(from, closes, Source(rows))
      case StatelessSource(rows) => normalized(from, ttlMs, closes, Source(rows))
      case _ =>
        throw ChangelogErrors.unsupportedOperator(
          from.function,
          "its input is the result of an operator with state, and those changes are known without it",
          "call it on the source, and write the operator above it"
        )
    }

  /**
   * A watermark on the table is one on its changes. Above a filter it is not: rows that the filter
   * leaves out would move it.
   */
  def below(mark: EventTimeWatermark): Option[LogicalPlan] = {
    val time = mark.eventTime.exprId
    def marked(plan: LogicalPlan): Option[LogicalPlan] = plan match {
      case from: FromChangelog if from.child.output.exists(_.exprId == time) =>
        val changes = mark.withNewChildren(Seq(from.child))
        val columns = changes.output.map(column => column.exprId -> column).toMap
        def of(column: NamedExpression) = columns.getOrElse(column.exprId, column)
        Some(from.copy(
          op = of(from.op),
          keys = from.keys.map(of),
          sequence = from.sequence.map(of),
          child = changes))
      case _: SubqueryAlias | _: View => through(plan)
      case project: Project if project.outputSet.exists(_.exprId == time) => through(plan)
      case _ => None
    }
    def through(plan: LogicalPlan): Option[LogicalPlan] =
      marked(plan.children.head).map(its => plan.withNewChildren(Seq(its)))
    marked(mark.child)
  }

  /** Retractions find rows by their bytes, so -0.0 is stored as 0.0. */
  private def whole(from: FromChangelog, closes: Boolean, rows: Source): ChangelogOperator = {
    val below = new ComputedColumns()
    val columns =
      from.output.filterNot(_.exprId == from.opColumn.exprId).map(c =>
        c -> below.of(normalizeFloats(c)))
    val changes = SourceChanges(from.opColumn, below.over(rows), closes)
    ComputedColumns.named(columns, changes)
  }

  /** State compares keys by their bytes, so -0.0 is stored as 0.0. */
  private def normalized(
      from: FromChangelog,
      ttlMs: Long,
      closes: Boolean,
      rows: Source): ChangelogOperator = {
    val below = new ComputedColumns(Some("_key"))
    val keys = from.keyColumns.map(key => below.of(normalizeFloats(key)))
    val sequence = from.sequenceColumns
    val identity = if (sequence.isEmpty) None else Some(below.of(hashed(from.output)))
    val operator =
      Normalize(
        from.opColumn,
        keys.distinctBy(_.exprId),
        sequence,
        identity,
        ttlMs,
        below.over(rows),
        closes)
    val keyOf = from.keyColumns.map(_.exprId).zip(keys).toMap
    val shown = from.output.map(c => c -> keyOf.getOrElse(c.exprId, c))
    if (identity.isEmpty) ComputedColumns.named(shown, operator)
    else Projection(shown.map { case (c, value) => ComputedColumns.named(c, value) }, operator)
  }

  /**
   * A row as one number. Spark's hash skips nulls and the borders of arrays and structs, so the
   * hash includes their text. Spark does not hash maps and variants, so only their text is in it.
   */
  private def hashed(columns: Seq[Attribute]): Expression = new XxHash64(columns.flatMap {
    column =>
      val asText = column.dataType match {
        case _: ArrayType | _: StructType | _: MapType | VariantType => Seq(ValueText.of(column))
        case _ => Nil
      }
      val isOnlyText = hasType(column.dataType) {
        case _: MapType | VariantType => true
      }
      val itself = if (isOnlyText) None else Some(column)
      val isThere = if (column.nullable) Some(IsNotNull(column)) else None
      asText ++ itself ++ isThere
  })
}

package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.plan.{ChangelogOperator, ComputedColumns, Normalize, Projection, Source, SourceChanges}
import io.firesteel.changelog.sql.{FromChangelog, ValueText}
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, IsNotNull, XxHash64}
import org.apache.spark.sql.firesteel.{hasType, normalizeFloats}
import org.apache.spark.sql.types.{ArrayType, MapType, StructType, VariantType}

/** A changelog source as operators. */
private[parse] object ReadSource {

  def apply(from: FromChangelog, ttlMs: Long): ChangelogOperator = from.child match {
    case StatelessSource(rows) if from.keys.isEmpty => whole(from, Source(rows))
    case StatelessSource(rows) => normalized(from, ttlMs, Source(rows))
    case _ =>
      throw ChangelogErrors.unsupportedOperator(
        from.function,
        "its input is the result of an operator with state, and those changes are known without it",
        "call it on the source, and write the operator above it"
      )
  }

  /** Retractions find rows by their bytes, so -0.0 is stored as 0.0. */
  private def whole(from: FromChangelog, rows: Source): ChangelogOperator = {
    val below = new ComputedColumns()
    val columns =
      from.output.filterNot(_.exprId == from.opColumn.exprId).map(c =>
        c -> below.of(normalizeFloats(c)))
    val changes = SourceChanges(from.opColumn, below.over(rows))
    ComputedColumns.named(columns, changes)
  }

  /** State compares keys by their bytes, so -0.0 is stored as 0.0. */
  private def normalized(from: FromChangelog, ttlMs: Long, rows: Source): ChangelogOperator = {
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
        below.over(rows))
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

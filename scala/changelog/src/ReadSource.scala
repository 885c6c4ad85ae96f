package io.firesteel.changelog

import org.apache.spark.sql.firesteel.normalizeFloats

/** A source that tells the kinds of its rows, as operators: where inference starts from changes. */
private[changelog] object ReadSource {

  def apply(from: FromChangelog, ttlMs: Long): ChangelogOperator = from.child match {
    case StatelessSource(rows) if from.keys.isEmpty => whole(from, Source(rows))
    case StatelessSource(rows) => normalized(from, ttlMs, Source(rows))
    case _ =>
      throw ChangelogErrors.unsupportedOperator(
        from.function,
        "its rows are what an operator with state gives, whose changes are known without it",
        "write it on the source, and the operator above it"
      )
  }

  /** Rows that go are found by their bytes: 0.0 is kept for -0.0. */
  private def whole(from: FromChangelog, rows: Source): ChangelogOperator = {
    val below = new ComputedColumns("_column")
    val columns =
      from.output.filterNot(_.exprId == from.opColumn.exprId).map(c =>
        c -> below.of(normalizeFloats(c)))
    val changes = SourceChanges(from.opColumn, below.over(rows))
    ComputedColumns.named(columns, changes)
  }

  /** Keys are equal in state when their bytes are: 0.0 is kept for -0.0. */
  private def normalized(from: FromChangelog, ttlMs: Long, rows: Source): ChangelogOperator = {
    val below = new ComputedColumns("_key")
    val keys = from.keyColumns.map(key => below.of(normalizeFloats(key)))
    val operator =
      Normalize(
        from.opColumn,
        keys.distinctBy(_.exprId),
        from.sequenceColumns,
        ttlMs,
        below.over(rows))
    val keyOf = from.keyColumns.map(_.exprId).zip(keys).toMap
    ComputedColumns.named(from.output.map(c => c -> keyOf.getOrElse(c.exprId, c)), operator)
  }
}

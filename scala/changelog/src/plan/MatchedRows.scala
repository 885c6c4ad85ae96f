package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, AttributeSet, Explode, GetStructField}

/** What a join with a table gives: a row for each match. */
private[plan] object MatchedRows {

  /**
   * @param columns of the stream's side and of the table
   * @param outer whether a row without a match gives one, too
   */
  def apply(columns: Seq[Attribute], join: TableJoin, outer: Boolean): Projection = {
    val one = AttributeReference("match", join.table.element.dataType, nullable = outer)()
    val read = columns.map { column =>
      join.table.columns.indexWhere(_.exprId == column.exprId) match {
        case -1 => column
        case at => Alias(GetStructField(one, at), column.name)(column.exprId)
      }
    }
    Projection(read, Generation(Explode(join.matches), outer, Seq(one), join))
  }

  /**
   * Of the table no more in state than the columns read, so that only a change of these is told.
   * Anything else than rows of matches stays as it is.
   */
  def narrow(rows: Projection): Projection = joinOf(rows).fold(rows) { case (join, outer) =>
    val kept = rows.columns.map(_.toAttribute)
    val read = join.table.columns.filter(AttributeSet(kept).contains)
    apply(kept, join.copy(table = join.table.withColumns(read)), outer)
  }

  def are(rows: Projection): Boolean = joinOf(rows).nonEmpty

  private def joinOf(rows: Projection): Option[(TableJoin, Boolean)] = rows.input match {
    case Generation(Explode(matches), outer, _, join: TableJoin)
        if matches.semanticEquals(join.matches) => Some((join, outer))
    case _ => None
  }
}

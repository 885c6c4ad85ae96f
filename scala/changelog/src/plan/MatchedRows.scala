package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, AttributeSet, Explode, GetStructField}

/** The result of a join with a table: one row for each match. */
private[plan] object MatchedRows {

  /**
   * @param columns columns of the stream and of the table
   * @param outer whether a row without a match gives a row, too
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
   * Keeps only the table's columns that are read, so that a change of another column emits nothing.
   * A projection that is no result of a join stays as it is.
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

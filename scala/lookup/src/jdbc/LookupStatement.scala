package io.firesteel.lookup.jdbc

import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.execution.datasources.jdbc.{JDBCOptions, JDBCPartition}
import org.apache.spark.sql.jdbc.JdbcDialect

/**
 * The statement that reads the rows of some keys.
 *
 * {{{
 *   SELECT "id","name" FROM customers WHERE ("country" = 'CH') AND ("id" IN (?, ?, ?, ?))
 * }}}
 *
 * The dialect's own builder writes it at planning, so that all tasks send the same text.
 *
 * @param before the text before the condition on the keys
 * @param after the text after it
 */
private[jdbc] final class LookupStatement private (
    before: String,
    after: String,
    database: Database,
    val keys: Seq[KeyColumn])
  extends Serializable {

  /** The text for this number of keys. */
  def text(count: Int): String = {
    val columns = keys.map(_.sql)
    val condition =
      if (columns.size == 1) Seq.fill(count)("?").mkString(s"${columns.head} IN (", ", ", ")")
      else database.several(columns, count)
    before + condition + after
  }

  /** Most keys that the database takes in one statement. */
  def maxKeys: Int = database.maxKeys(keys.size)

  override def toString: String = text(1)
}

private[jdbc] object LookupStatement {

  /** Stands for the condition on the keys while Spark's builder writes the rest. */
  private val place = "/*firesteel:keys*/"

  /** @param columns as the statement reads them */
  def of(
      options: JDBCOptions,
      dialect: JdbcDialect,
      database: Database,
      keys: Seq[KeyColumn],
      columns: Array[String],
      filters: Array[Predicate]): LookupStatement = {
    val whole = dialect
      .getJdbcSQLQueryBuilder(options)
      .withColumns(columns)
      .withPredicates(pushed(options, dialect, filters), JDBCPartition(place, 0))
      .build()
      .trim
    val at = whole.indexOf(place)
    require(at >= 0, s"the dialect left out the condition: $whole")
    new LookupStatement(whole.take(at), whole.drop(at + place.length), database, keys)
  }

  /** Drops filters that the dialect cannot write; the join applies all filters in every case. */
  private def pushed(
      options: JDBCOptions,
      dialect: JdbcDialect,
      filters: Array[Predicate]): Array[Predicate] =
    if (options.pushDownPredicate) filters.filter(dialect.compileExpression(_).isDefined)
    else Array.empty

  /**
   * The number of places for keys in a statement for `count` keys: the next power of two, with the
   * last key repeated. So a few texts serve all batches, and a prepared statement is reused.
   */
  def paddedSize(count: Int, most: Int): Int =
    if (count >= most) count else (Integer.highestOneBit(2 * count - 1)).min(most)
}

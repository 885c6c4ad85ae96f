package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.parser.{AbstractSqlParser, ParserInterface}

/** How a parser puts the values of parameters into a text: 4.0 binds them in the parsed plan. */
trait ParameterBinding extends AbstractSqlParser {

  /** Replaces variables (`${x}`) in a text. */
  protected def substitute: String => String

  /** The text in a form that Spark's grammar takes, of the same length. */
  protected def plain(sqlText: String): String

  /** The same parser, without substitution: a value that reads `${x}` is not a variable. */
  protected def ofBoundText: ParserInterface
}

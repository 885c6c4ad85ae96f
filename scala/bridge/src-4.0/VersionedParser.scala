package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.parser.ParserInterface

/** The methods of a parser that not every version of Spark has; 4.0 has none of them. */
trait VersionedParser extends ParserInterface {

  protected def delegate: ParserInterface

  /** The parser of a text; the delegate is the one of most. */
  protected def parserOf(sqlText: String): ParserInterface

  /** The text in a form that Spark's grammar takes, of the same length. */
  protected def plain(sqlText: String): String
}

package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.parser.{ParameterContext, ParserInterface, SqlStatement, SqlStatementSplitResult, TemporalIdentifier}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** The methods of a parser that not every version of Spark has. */
trait VersionedParser extends ParserInterface {

  protected def delegate: ParserInterface

  /** The parser of a text; the delegate is the one of most. */
  protected def parserOf(sqlText: String): ParserInterface

  /** The text in a form that Spark's grammar takes, of the same length. */
  protected def plain(sqlText: String): String

  override def parsePlanWithParameters(
      sqlText: String,
      parameters: ParameterContext): LogicalPlan =
    parserOf(sqlText).parsePlanWithParameters(sqlText, parameters)

  /**
   * The delegate splits the plain text: in a script, the grammar decides which semicolons end a
   * statement.
   */
  override def splitStatements(sqlText: String): SqlStatementSplitResult = {
    val copy = plain(sqlText)
    val split = delegate.splitStatements(copy)
    if (copy == sqlText) split
    else {
      val (end, complete) = split.completeStatements.foldLeft((0, Vector.empty[SqlStatement])) {
        case ((from, before), statement) =>
          val start = copy.indexOf(statement.statement, from)
          val stop = start + statement.statement.length
          (stop, before :+ statement.copy(statement = sqlText.substring(start, stop)))
      }
      val start = copy.indexOf(split.partialStatement, end)
      split.copy(
        completeStatements = complete,
        partialStatement = sqlText.substring(start, start + split.partialStatement.length))
    }
  }

  override def parseTemporalTableIdentifier(sqlText: String): TemporalIdentifier =
    delegate.parseTemporalTableIdentifier(sqlText)
}

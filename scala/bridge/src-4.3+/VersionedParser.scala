package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.parser.{ParameterContext, ParserInterface, SqlStatement, SqlStatementSplitResult, TemporalIdentifier}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** The methods of a parser that not every version of Spark has. */
trait VersionedParser extends ParserInterface {

  protected def delegate: ParserInterface

  /** The text with its variables replaced, if it has clauses that Spark's grammar refuses. */
  protected def withClauses(sqlText: String): Option[String]

  /** What the delegate's method `parse` makes of such a text. */
  protected def parsed[T](text: UserText)(parse: String => T): T

  /** The text in a form that Spark's readers of parameters and semicolons take, equally long. */
  protected def readable(sqlText: String): String

  override def parsePlanWithParameters(
      sqlText: String,
      parameters: ParameterContext): LogicalPlan = withClauses(sqlText) match {
    case None => delegate.parsePlanWithParameters(sqlText, parameters)
    case Some(text) if UserText.hasValues(parameters) =>
      parsed(UserText.bound(text, readable(text), parameters))(delegate.parsePlan)
    case Some(text) => parsed(UserText.of(text))(delegate.parsePlan)
  }

  /**
   * The delegate splits the readable text: in a script, the grammar decides which semicolons end a
   * statement.
   */
  override def splitStatements(sqlText: String): SqlStatementSplitResult = {
    val copy = readable(sqlText)
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

package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.parser.{ParameterContext, ParserInterface}
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
}

package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.parser.{AbstractSqlParser, HybridParameterContext, NamedParameterContext, ParameterContext, ParameterHandler, ParseException, ParserInterface, PositionalParameterContext, PositionMapper}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.internal.SQLConf

/** How a parser puts the values of parameters into a text before it parses the text. */
trait ParameterBinding extends AbstractSqlParser {

  /** Replaces variables (`${x}`) in a text. */
  protected def substitute: String => String

  /** The text in a form that Spark's grammar takes, of the same length. */
  protected def plain(sqlText: String): String

  /** The same parser, without substitution: a value that reads `${x}` is not a variable. */
  protected def ofBoundText: ParserInterface

  override def parsePlanWithParameters(
      sqlText: String,
      parameters: ParameterContext): LogicalPlan =
    if (!hasValues(parameters) || SQLConf.get.legacyParameterSubstitutionConstantsOnly) {
      parsePlan(sqlText)
    } else {
      val bound = bind(substitute(sqlText), parameters)
      val origin = CurrentOrigin.get.copy(
        startIndex = Some(0),
        stopIndex = Some(bound.substitutedText.length - 1),
        sqlText = Some(bound.substitutedText),
        positionMapper = Some(bound))
      CurrentOrigin.withOrigin(origin)(ofBoundText.parsePlan(bound.substitutedText))
    }

  private def hasValues(parameters: ParameterContext): Boolean = parameters match {
    case named: NamedParameterContext => named.params.nonEmpty
    case positional: PositionalParameterContext => positional.params.nonEmpty
    case hybrid: HybridParameterContext => hybrid.args.nonEmpty
    case _ => false
  }

  /**
   * The text with the values of its parameters. Spark finds parameters by its own grammar, in a
   * copy of the text that the grammar accepts; the values then replace them in the original text.
   */
  private def bind(sqlText: String, parameters: ParameterContext): PositionMapper = {
    val found =
      try ParameterHandler.substituteParameters(plain(sqlText), parameters)._2
      catch { case e: ParseException => throw e.withCommand(sqlText) }
    val bound = found.substitutions.sortBy(-_.start).foldLeft(sqlText) { (text, value) =>
      val start = text.offsetByCodePoints(0, value.start)
      val end = text.offsetByCodePoints(0, value.end)
      // As Spark does: two adjacent literals would read as one literal with a quote in it.
      val blank = if (start > 0 && "'\"".contains(text.charAt(start - 1))) " " else ""
      text.substring(0, start) + blank + value.replacement + text.substring(end)
    }
    found.copy(originalText = sqlText, substitutedText = bound)
  }
}

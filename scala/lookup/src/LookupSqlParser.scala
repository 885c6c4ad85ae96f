package io.firesteel.lookup

import scala.jdk.CollectionConverters.{ListHasAsScala, SeqHasAsJava}

import org.antlr.v4.runtime.{CommonTokenStream, ListTokenSource}
import org.apache.spark.sql.catalyst.parser.{AbstractSqlParser, HybridParameterContext, NamedParameterContext, ParameterContext, ParameterHandler, ParseException, PositionMapper, PositionalParameterContext, SqlBaseParser}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.execution.SparkSqlAstBuilder
import org.apache.spark.sql.internal.{SQLConf, VariableSubstitution}

/**
 * Spark's SQL parser, with [[LookupTokens]] between its lexer and its grammar.
 *
 * @param substitute replaces variables (`${x}`) in a text
 */
private[lookup] final class LookupSqlParser(substitute: String => String)
  extends AbstractSqlParser {

  def this() = this(new VariableSubstitution().substitute(_))

  override val astBuilder: SparkSqlAstBuilder = new SparkSqlAstBuilder

  override protected def parse[T](command: String)(toResult: SqlBaseParser => T): T =
    super.parse(substitute(command)) { parser =>
      rewriteTokens(parser)
      toResult(parser)
    }

  /** Spark calls this once or, after a failure in its fast mode, twice with the same parser. */
  private def rewriteTokens(parser: SqlBaseParser): Unit = parser.getTokenStream match {
    case lexed: CommonTokenStream if !lexed.getTokenSource.isInstanceOf[ListTokenSource] =>
      lexed.fill()
      val tokens = LookupTokens.rewrite(
        lexed.getTokens.asScala.toIndexedSeq,
        parser.double_quoted_identifiers)
      parser.setTokenStream(new CommonTokenStream(new ListTokenSource(tokens.asJava)))
    case _ => ()
  }

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
      CurrentOrigin.withOrigin(origin) {
        // Without substitution: a parameter's value that reads `${x}` is not a variable.
        LookupSqlParser.ofBoundText.parsePlan(bound.substitutedText)
      }
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
      try ParameterHandler.substituteParameters(LookupText.withoutPairs(sqlText), parameters)._2
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

private object LookupSqlParser {

  private val ofBoundText = new LookupSqlParser(identity)
}

package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.parser.{HybridParameterContext, NamedParameterContext, ParameterContext, ParameterHandler, ParseException, PositionalParameterContext, PositionMapper}
import org.apache.spark.sql.catalyst.trees.{CurrentOrigin, Origin, TreeNode}
import org.apache.spark.sql.internal.SQLConf

/**
 * The text that errors show, while a parser reads another one of the same length in its place.
 *
 * Spark itself maps positions of a text with the values of parameters to the user's text; the same
 * map leads from a text of the same length.
 *
 * @param text the text with the values of its parameters
 */
final class UserText private (val text: String, origin: Origin => Origin) {

  /** Runs a parser on the other text. */
  def whileParsing[T](parse: => T): T = CurrentOrigin.withOrigin(origin(CurrentOrigin.get))(parse)

  /** The map is in each node already. */
  def showIn(node: TreeNode[_], plain: String): Unit = ()

  /** The map is in its places already. */
  def showIn(error: ParseException, plain: String): ParseException = {
    val _ = plain
    error.withCommand(text)
  }
}

object UserText {

  def of(text: String): UserText =
    new UserText(text, _.copy(positionMapper = Some(PositionMapper.identity(text))))

  /** Whether values have to be put into a text before it is parsed. */
  private[firesteel] def hasValues(parameters: ParameterContext): Boolean =
    !SQLConf.get.legacyParameterSubstitutionConstantsOnly && (parameters match {
      case named: NamedParameterContext => named.params.nonEmpty
      case positional: PositionalParameterContext => positional.params.nonEmpty
      case hybrid: HybridParameterContext => hybrid.args.nonEmpty
      case _ => false
    })

  /**
   * The text with the values of its parameters. Spark finds parameters by its own grammar, in a
   * copy of the text that the grammar accepts; the values then replace them in the original text.
   *
   * @param copy a text of the same length
   */
  private[firesteel] def bound(
      sqlText: String,
      copy: String,
      parameters: ParameterContext): UserText = {
    val found =
      try ParameterHandler.substituteParameters(copy, parameters)._2
      catch { case e: ParseException => throw e.withCommand(sqlText) }
    val bound = found.substitutions.sortBy(-_.start).foldLeft(sqlText) { (text, value) =>
      val start = text.offsetByCodePoints(0, value.start)
      val end = text.offsetByCodePoints(0, value.end)
      // As Spark does: two adjacent literals would read as one literal with a quote in it.
      val blank = if (start > 0 && "'\"".contains(text.charAt(start - 1))) " " else ""
      text.substring(0, start) + blank + value.replacement + text.substring(end)
    }
    val mapper = found.copy(originalText = sqlText, substitutedText = bound)
    new UserText(
      bound,
      _.copy(
        startIndex = Some(0),
        stopIndex = Some(bound.length - 1),
        sqlText = Some(bound),
        positionMapper = Some(mapper)))
  }
}

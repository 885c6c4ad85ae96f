package io.firesteel.changelog.statements

import io.firesteel.core.parse.{SqlTokens, TokenReader}

import org.antlr.v4.runtime.Token
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer

/**
 * A script that Spark's grammar takes, of the same length as `EXECUTE STATEMENT SET`: the options are
 * the query before the statements.
 *
 * {{{
 *   EXECUTE STATEMENT SET OPTIONS ('a' = 'b') BEGIN INSERT INTO t SELECT ...; END
 *   BEGIN   SELECT                ('a' = 'b') ;     INSERT INTO t SELECT ...; END
 * }}}
 */
private[statements] object StatementSetText {

  /** None if the text is another one. */
  def script(sqlText: String): Option[String] =
    if (!mayBe(sqlText)) None
    else {
      val tokens = SqlTokens.of(sqlText)
      val reader = new TokenReader(tokens, quotedIdentifiers = false)
      import reader.{closing, isWord, kind}
      val isSet = kind(0) == SqlBaseLexer.EXECUTE && isWord(1, "STATEMENT") &&
        kind(2) == SqlBaseLexer.SET
      if (!isSet) None
      else if (kind(3) == SqlBaseLexer.BEGIN) {
        Some(replaced(sqlText, tokens, Map(0 -> "BEGIN", 1 -> "", 2 -> "", 3 -> "")))
      } else {
        closing(4).map(_ + 1)
          .filter(at => kind(3) == SqlBaseLexer.OPTIONS && kind(at) == SqlBaseLexer.BEGIN)
          .map { begin =>
            val words = Map(0 -> "BEGIN", 1 -> "SELECT", 2 -> "", 3 -> "", begin -> ";")
            replaced(sqlText, tokens, words)
          }
      }
    }

  /** Whether the script has options before its statements. */
  def hasOptions(sqlText: String): Boolean =
    SqlTokens.of(sqlText)(3).getType == SqlBaseLexer.OPTIONS

  private def mayBe(sqlText: String): Boolean = contains(sqlText, "EXECUTE") &&
    contains(sqlText, "STATEMENT")

  private def contains(text: String, word: String): Boolean =
    Range(0, text.length).exists(text.regionMatches(true, _, word, 0, word.length))

  /** The places of tokens count code points; only blanks and comments may be before the words. */
  private def replaced(
      sqlText: String,
      tokens: IndexedSeq[Token],
      words: Map[Int, String]): String = {
    val text = new StringBuilder(sqlText)
    words.foreach { case (at, word) =>
      val start = sqlText.offsetByCodePoints(0, tokens(at).getStartIndex)
      val end = sqlText.offsetByCodePoints(0, tokens(at).getStopIndex + 1)
      text.replace(start, end, word.padTo(end - start, ' '))
    }
    text.toString
  }
}

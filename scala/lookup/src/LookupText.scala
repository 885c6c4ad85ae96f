package io.firesteel.lookup

import io.firesteel.core.parse.SqlTokens

import org.antlr.v4.runtime.Token
import org.apache.spark.sql.internal.SQLConf

/** Facts about a SQL text before it is parsed, by the tokens of Spark's own lexer. */
private[lookup] object LookupText {

  /** Whether the text has a clause that Spark's grammar refuses. */
  def hasClauses(sqlText: String): Boolean =
    mayHaveClauses(sqlText) && !clausesOf(sqlText)._2.isEmpty

  /** The text for other parsers. */
  def plain(sqlText: String): PlainText = {
    val (tokens, clauses) = clausesOf(sqlText)
    PlainText.of(sqlText, tokens, clauses)
  }

  /**
   * The text with commas instead of the equals signs of its lookup hints, of the same length.
   *
   * Two readers of Spark take a text instead of tokens: the one for parameters and the one for
   * semicolons. Both take an equals sign in a hint for a syntax error. They accept the time
   * clauses, in which there may be parameters.
   */
  def withoutPairs(sqlText: String): String =
    if (!mayHaveClauses(sqlText)) sqlText
    else {
      val (tokens, clauses) = clausesOf(sqlText)
      PlainText.withoutPairs(sqlText, tokens, clauses)
    }

  private def clausesOf(sqlText: String): (IndexedSeq[Token], LookupClauses) = {
    val tokens = SqlTokens.of(sqlText)
    (tokens, LookupClauses.find(tokens, SQLConf.get.doubleQuotedIdentifiers))
  }

  private def mayHaveClauses(sqlText: String): Boolean =
    (LookupClauses.hints :+ "DESCRIPTOR").exists(find(sqlText, _, 0).nonEmpty) ||
      Seq("SYSTEM_TIME", "TIMESTAMP").exists { time =>
        find(sqlText, time, 0).exists(find(sqlText, "OF", _).nonEmpty)
      }

  /** The first place of `word` at or after `from`, in any case and also inside a longer word. */
  private def find(sqlText: String, word: String, from: Int): Option[Int] =
    Range(from, sqlText.length).find(sqlText.regionMatches(true, _, word, 0, word.length))
}

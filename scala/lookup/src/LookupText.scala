package io.firesteel.lookup

import scala.jdk.CollectionConverters.ListHasAsScala

import org.antlr.v4.runtime.{CharStream, CharStreams, IntStream, Token}
import org.antlr.v4.runtime.misc.Interval
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer
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
    val tokens = lex(sqlText).filter(_.getChannel == Token.DEFAULT_CHANNEL)
    (tokens, LookupClauses.find(tokens, SQLConf.get.doubleQuotedIdentifiers))
  }

  /** All tokens of a text, blanks and comments included, without the end of file. */
  def lex(sqlText: String): IndexedSeq[Token] = {
    val lexer = new SqlBaseLexer(new Capitals(CharStreams.fromString(sqlText)))
    lexer.removeErrorListeners()
    lexer.getAllTokens.asScala.toIndexedSeq
  }

  private def mayHaveClauses(sqlText: String): Boolean =
    (LookupClauses.hints :+ "DESCRIPTOR").exists(find(sqlText, _, 0).nonEmpty) ||
      Seq("SYSTEM_TIME", "TIMESTAMP").exists { time =>
        find(sqlText, time, 0).exists(find(sqlText, "OF", _).nonEmpty)
      }

  /** The first place of `word` at or after `from`, in any case and also inside a longer word. */
  private def find(sqlText: String, word: String, from: Int): Option[Int] =
    Range(from, sqlText.length).find(sqlText.regionMatches(true, _, word, 0, word.length))

  /** The lexer knows capitals only, and Spark's own upper-case stream is not accessible. */
  private final class Capitals(text: CharStream) extends CharStream {

    override def LA(offset: Int): Int = text.LA(offset) match {
      case IntStream.EOF => IntStream.EOF
      case point => Character.toUpperCase(point)
    }

    override def getText(interval: Interval): String = text.getText(interval)
    override def consume(): Unit = text.consume()
    override def mark(): Int = text.mark()
    override def release(marker: Int): Unit = text.release(marker)
    override def index(): Int = text.index()
    override def seek(index: Int): Unit = text.seek(index)
    override def size(): Int = text.size()
    override def getSourceName: String = text.getSourceName
  }
}

package io.firesteel.core.parse

import scala.annotation.tailrec

import org.antlr.v4.runtime.Token
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer

/** Questions about the tokens of a SQL text. Beyond either end it returns ends of file. */
final class TokenReader(tokens: IndexedSeq[Token], quotedIdentifiers: Boolean) {

  def indices: Range = tokens.indices

  def kind(at: Int): Int = if (tokens.isDefinedAt(at)) tokens(at).getType else Token.EOF

  /** Whether the token is the unquoted identifier `word`, in any case. */
  def isWord(at: Int, word: String): Boolean =
    kind(at) == SqlBaseLexer.IDENTIFIER && tokens(at).getText.equalsIgnoreCase(word)

  def isString(at: Int): Boolean = kind(at) match {
    case SqlBaseLexer.STRING_LITERAL => true
    case SqlBaseLexer.DOUBLEQUOTED_STRING => !quotedIdentifiers
    case _ => false
  }

  /** Whether the token is a name in any context: an identifier that is no keyword. */
  def isName(at: Int): Boolean = kind(at) match {
    case SqlBaseLexer.IDENTIFIER | SqlBaseLexer.BACKQUOTED_IDENTIFIER => true
    case SqlBaseLexer.DOUBLEQUOTED_STRING => quotedIdentifiers
    case _ => false
  }

  /** Spark numbers its keywords consecutively, in alphabetical order. */
  def isKeyword(at: Int): Boolean = kind(at) >= SqlBaseLexer.ADD && kind(at) <= SqlBaseLexer.ZONE

  /** The last token of the name `a.b.c` that begins at `first`; after a dot any word is a name. */
  @tailrec
  def nameEnd(first: Int): Int =
    if (kind(first + 1) == SqlBaseLexer.DOT && (isName(first + 2) || isKeyword(first + 2))) {
      nameEnd(first + 2)
    } else first

  /** The parenthesis that closes the one at `open`, if there is one. */
  def closing(open: Int): Option[Int] =
    if (kind(open) != SqlBaseLexer.LEFT_PAREN) None
    else depths(open).collectFirst { case (at, 0) => at }

  /** The tokens of a range outside of the brackets in it. */
  def topLevel(from: Int, until: Int): Seq[Int] =
    depths(from).takeWhile(_._1 < until).collect { case (at, 0) => at }.toSeq

  /** The end of the brackets around a token. */
  def enclosingEnd(from: Int): Int =
    depths(from).collectFirst { case (at, -1) => at }.getOrElse(tokens.size)

  /** Each token from `from` with the brackets open after it. The end of a hint closes all. */
  private def depths(from: Int): Iterator[(Int, Int)] =
    Iterator
      .range(from, tokens.size)
      .takeWhile(kind(_) != SqlBaseLexer.HENT_END)
      .scanLeft((from - 1, 0)) { case ((_, depth), at) =>
        val opened = kind(at) match {
          case SqlBaseLexer.LEFT_PAREN | SqlBaseLexer.LEFT_BRACKET => 1
          case SqlBaseLexer.RIGHT_PAREN | SqlBaseLexer.RIGHT_BRACKET => -1
          case _ => 0
        }
        (at, depth + opened)
      }
      .drop(1)

  /** Whether the token continues an expression that is complete before it. */
  def continuesExpression(at: Int): Boolean = kind(at) match {
    case SqlBaseLexer.OPERATOR_PIPE | SqlBaseLexer.HENT_START => false
    case operator if operator >= SqlBaseLexer.EQ && operator <= SqlBaseLexer.BIGDECIMAL_LITERAL =>
      !isName(at)
    case other => TokenReader.CONTINUING(other)
  }
}

private object TokenReader {

  private val CONTINUING = Set(
    SqlBaseLexer.DOT,
    SqlBaseLexer.LEFT_PAREN,
    SqlBaseLexer.LEFT_BRACKET,
    SqlBaseLexer.BANG,
    SqlBaseLexer.DIV,
    SqlBaseLexer.COLLATE,
    SqlBaseLexer.OVER,
    SqlBaseLexer.FILTER,
    SqlBaseLexer.WITHIN,
    SqlBaseLexer.IGNORE,
    SqlBaseLexer.RESPECT
  )
}

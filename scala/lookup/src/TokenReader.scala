package io.firesteel.lookup

import scala.annotation.tailrec

import org.antlr.v4.runtime.Token
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer

/** Questions about the tokens of a SQL text; beyond either end there are only ends of file. */
private[lookup] final class TokenReader(tokens: IndexedSeq[Token], quotedIdentifiers: Boolean) {

  def indices: Range = tokens.indices

  def kind(at: Int): Int = if (tokens.isDefinedAt(at)) tokens(at).getType else Token.EOF

  /** Whether the token is an unquoted identifier that reads `word`, in any case. */
  def isWord(at: Int, word: String): Boolean =
    kind(at) == SqlBaseLexer.IDENTIFIER && tokens(at).getText.equalsIgnoreCase(word)

  def isString(at: Int): Boolean = kind(at) match {
    case SqlBaseLexer.STRING_LITERAL => true
    case SqlBaseLexer.DOUBLEQUOTED_STRING => !quotedIdentifiers
    case _ => false
  }

  /** Whether the token is a name whatever stands around it: an identifier that is no keyword. */
  def isName(at: Int): Boolean = kind(at) match {
    case SqlBaseLexer.IDENTIFIER | SqlBaseLexer.BACKQUOTED_IDENTIFIER => true
    case SqlBaseLexer.DOUBLEQUOTED_STRING => quotedIdentifiers
    case _ => false
  }

  /** Spark numbers its keywords in one run, in the order of the alphabet. */
  def isKeyword(at: Int): Boolean = kind(at) >= SqlBaseLexer.ADD && kind(at) <= SqlBaseLexer.ZONE

  /** The last token of the name `a.b.c` that begins at `first`; behind a dot any word is a name. */
  @tailrec
  def nameEnd(first: Int): Int =
    if (kind(first + 1) == SqlBaseLexer.DOT && (isName(first + 2) || isKeyword(first + 2))) {
      nameEnd(first + 2)
    } else first

  /** The parenthesis that closes the one at `open`, if there is one and it is closed. */
  def closing(open: Int): Option[Int] =
    if (kind(open) != SqlBaseLexer.LEFT_PAREN) None
    else depths(open).collectFirst { case (at, 0) => at }

  /** The tokens of a range that are in no brackets of the range. */
  def topLevel(from: Int, until: Int): Seq[Int] =
    depths(from).takeWhile(_._1 < until).collect { case (at, 0) => at }.toSeq

  /** Each token from `from` with the brackets open behind it. A hint's end closes everything. */
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

  /** Whether the token goes on with an expression that has been complete until here. */
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

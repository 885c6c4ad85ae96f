package io.firesteel.lookup

import org.antlr.v4.runtime.{CommonToken, Token}
import org.antlr.v4.runtime.misc.{Interval, Pair}
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer

/**
 * Rewrites a text's tokens into a form that Spark's grammar accepts.
 *
 * {{{
 *   LOOKUP('table'='c', 'async'='true')   =>   LOOKUP(('table'='c'), ('async'='true'))
 *   FOR SYSTEM_TIME AS OF o.ts AS c       =>   FOR SYSTEM_TIME AS OF 'firesteel:asof:o.ts' AS c
 * }}}
 *
 * It changes tokens instead of text: every token keeps its place in the user's text, and a new one
 * takes the place of a neighbour. So error positions, the origins of plan nodes, and the text that
 * a view, function or script stores remain the user's own.
 */
private[lookup] object LookupTokens {

  /** Begins the string literal that stands for a time with columns; the user's text follows it. */
  val asOfMark: String = "firesteel:asof:"

  /**
   * @param tokens all tokens of a text, blanks and comments included
   * @param quotedIdentifiers as in [[LookupClauses.find]]
   */
  def rewrite(tokens: IndexedSeq[Token], quotedIdentifiers: Boolean): IndexedSeq[Token] = {
    val seen = visible(tokens)
    val clauses = LookupClauses.find(seen, quotedIdentifiers)
    val edits = clauses.pairs.flatMap { pair =>
      val (first, last) = (seen(pair.first), seen(pair.last))
      // In an error the closing one stands for the rest, as any unexpected token does.
      val close = token(SqlBaseLexer.RIGHT_PAREN, ")", last, last, place = seen(pair.last + 1))
      Seq(
        first -> Seq(token(SqlBaseLexer.LEFT_PAREN, "(", first, first, place = first), first),
        last -> Seq(last, close))
    } ++ clauses.columns.flatMap { column =>
      val gone = seen.slice(column.first, column.last + 1)
      gone.map(_ -> Nil) :+ (gone.head -> Seq(asOfLiteral(gone.head, gone.last)))
    }
    val edited = edits.toMap
    tokens.flatMap(token => edited.getOrElse(token, Seq(token)))
  }

  /** The tokens that a grammar sees. */
  def visible(tokens: IndexedSeq[Token]): IndexedSeq[Token] =
    tokens.filter(_.getChannel == Token.DEFAULT_CHANNEL)

  private def asOfLiteral(first: Token, last: Token): Token = {
    val content = first.getInputStream.getText(Interval.of(first.getStartIndex, last.getStopIndex))
    // A raw literal if there is a character to escape, as a backquoted name may have: Spark strips
    // only the quotes of a raw literal.
    val literal =
      if (content.exists("\\'".contains(_))) "r\"" + asOfMark + content + "\""
      else "'" + asOfMark + content + "'"
    token(SqlBaseLexer.STRING_LITERAL, literal, first, last, place = first)
  }

  /** A token over the user's text from `first` to `last`, at the line and position of `place`. */
  private def token(kind: Int, text: String, first: Token, last: Token, place: Token): Token = {
    val made = new CommonToken(
      new Pair(first.getTokenSource, first.getInputStream),
      kind,
      Token.DEFAULT_CHANNEL,
      first.getStartIndex,
      last.getStopIndex)
    made.setLine(place.getLine)
    made.setCharPositionInLine(place.getCharPositionInLine)
    made.setText(text)
    made
  }
}

package io.firesteel.lookup

import org.antlr.v4.runtime.Token
import org.antlr.v4.runtime.misc.Interval

/**
 * A text with lookup clauses, and a text of the same length that every parser of Spark's SQL takes.
 *
 * {{{
 *   LOOKUP('table'='c', 'async'='true')   =>   LOOKUP('table','c', 'async','true')
 *   FOR SYSTEM_TIME AS OF o.ts AS c       =>   FOR SYSTEM_TIME AS OF '.t' AS c
 *   TUMBLE(TABLE bid, DESCRIPTOR(ts)      =>   TUMBLE(TABLE(bid),DESCRIPTOR(ts)
 *   FROM TABLE(TUMBLE(...))               =>   FROM       TUMBLE(...)
 * }}}
 *
 * Each token has the same place in both, so the lines and positions of errors and of plan nodes are
 * the user's. [[RestoreClauses]] makes the user's clauses of what the plain text becomes. If it were
 * ever read without that, its time would be no time, and hence an error instead of another answer.
 *
 * @param user the user's text
 * @param plain the text for other parsers
 * @param names where the names of a hint's pairs begin, in code points
 * @param columns the user's times with columns, by the places where they begin
 */
private[lookup] final case class PlainText(
    user: String,
    plain: String,
    names: Set[Int],
    columns: Map[Int, String])

private[lookup] object PlainText {

  def of(user: String, tokens: IndexedSeq[Token], clauses: LookupClauses): PlainText = {
    val times = clauses.columns.map { column =>
      val first = tokens(column.first)
      first.getStartIndex -> textOf(first, tokens(column.last))
    }
    val plain = times.foldLeft(withoutPairs(user, tokens, clauses)) { case (text, (at, time)) =>
      val start = text.offsetByCodePoints(0, at)
      text.patch(start, literal(time), time.length)
    }
    val bare = clauses.wrappers.flatMap(its => Seq(its.table, its.open, its.close))
      .foldLeft(plain)((text, at) => blanked(text, tokens(at)))
    val whole = clauses.arguments.foldLeft(bare) { (text, its) =>
      inParentheses(text, tokens(its.first).getStartIndex, tokens(its.last).getStopIndex)
    }
    val names = clauses.pairs.map(pair => tokens(pair.first).getStartIndex)
    PlainText(user, whole, names.toSet, times.toMap)
  }

  /** The text with commas instead of the equals signs of its lookup hints. */
  def withoutPairs(user: String, tokens: IndexedSeq[Token], clauses: LookupClauses): String =
    clauses.pairs.map(pair => tokens(pair.equal)).foldLeft(user) { (text, equal) =>
      val length = equal.getText.length
      text.patch(text.offsetByCodePoints(0, equal.getStartIndex), ",".padTo(length, ' '), length)
    }

  private def blanked(text: String, token: Token): String = {
    val length = token.getText.length
    text.patch(text.offsetByCodePoints(0, token.getStartIndex), " " * length, length)
  }

  /**
   * The text with parentheses instead of the blanks around a range, or behind the comma after it.
   * Where there are none the text stays, and Spark's parser says what is missing.
   */
  private def inParentheses(text: String, first: Int, last: Int): String = {
    val open = text.offsetByCodePoints(0, first) - 1
    val after = text.offsetByCodePoints(0, last + 1)
    def isBlank(at: Int) = at < text.length && text(at).isWhitespace && text(at) != '\n'
    if (!isBlank(open)) text
    else if (isBlank(after)) text.patch(open, "(", 1).patch(after, ")", 1)
    else if (isBlank(after + 1)) text.patch(open, "(", 1).patch(after, "),", 2)
    else text
  }

  private def textOf(first: Token, last: Token): String =
    first.getInputStream.getText(Interval.of(first.getStartIndex, last.getStopIndex))

  /**
   * A literal with as many lines, code points and characters. It keeps most of the time's letters,
   * so that it is another one for another column. For a name of one letter there is only a digit.
   */
  private def literal(time: String): String =
    if (time.length == 1) "1"
    else
      time.drop(1).dropRight(1).map(c => if ("\\'".contains(c)) '_' else c).mkString("'", "", "'")
}

package io.firesteel.lookup

import io.firesteel.core.parse.TokenReader

import org.antlr.v4.runtime.Token
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer

/**
 * The places in a statement's tokens with Flink's syntax of lookups and of hints, which Spark's
 * grammar refuses.
 *
 * All numbers are indices of the tokens given to [[LookupClauses.find]].
 *
 * @param pairs `'key' = value` as arguments of a hint, without parentheses of their own
 * @param columns expressions with a column after `SYSTEM_TIME AS OF` or `TIMESTAMP AS OF`
 * @param arguments tables and lists of keys that Spark's grammar wants in parentheses
 * @param wrappers `TABLE(...)` around a window function
 */
private[lookup] final case class LookupClauses(
    pairs: Seq[LookupClauses.Pair],
    columns: Seq[LookupClauses.Column],
    arguments: Seq[LookupClauses.Bare],
    wrappers: Seq[LookupClauses.Wrapper]) {

  def isEmpty: Boolean =
    pairs.isEmpty && columns.isEmpty && arguments.isEmpty && wrappers.isEmpty
}

private[lookup] object LookupClauses {

  /** Hints whose arguments may be `'name' = 'value'`. */
  val hints: Seq[String] = Seq("LOOKUP", "STATE_TTL")

  /** `first` to `last`, both included, with the equals sign between them. */
  final case class Pair(first: Int, equal: Int, last: Int)

  /** `first` to `last`, both included. */
  final case class Column(first: Int, last: Int)

  /** `first` to `last`, both included, without parentheses. */
  final case class Bare(first: Int, last: Int)

  /** The word `TABLE` and its parentheses. */
  final case class Wrapper(table: Int, open: Int, close: Int)

  /**
   * Finds the clauses.
   *
   * @param tokens a whole text, without blanks and comments
   * @param quotedIdentifiers whether `"x"` is a name (`spark.sql.ansi.doubleQuotedIdentifiers`)
   *   and not a string
   */
  def find(tokens: IndexedSeq[Token], quotedIdentifiers: Boolean): LookupClauses = {
    val reader = new TokenReader(tokens, quotedIdentifiers)
    val tables = new TableArgumentReader(reader)
    LookupClauses(
      new HintReader(reader).pairs,
      new AsOfReader(reader).columns,
      tables.bare,
      tables.wrappers)
  }

  /** The arguments of hints with pairs in every hint comment of a text. */
  private final class HintReader(tokens: TokenReader) {
    import tokens.{closing, isString, kind}

    def pairs: Seq[Pair] =
      tokens.indices.filter(kind(_) == SqlBaseLexer.HENT_START).flatMap { start =>
        hints(start + 1).flatMap(open => arguments(open)).flatMap(pair.tupled(_))
      }

    /** The opening parentheses of a comment's hints with pairs. Other hints are skipped. */
    private def hints(at: Int): Seq[Int] = kind(at) match {
      case SqlBaseLexer.HENT_END | Token.EOF => Nil
      case SqlBaseLexer.LEFT_PAREN =>
        val hasPairs = LookupClauses.hints.exists(tokens.isWord(at - 1, _))
        closing(at) match {
          case Some(end) if hasPairs => at +: hints(end + 1)
          case Some(end) => hints(end + 1)
          case None => Nil
        }
      case _ => hints(at + 1)
    }

    /** First and last token of each argument. */
    private def arguments(open: Int): Seq[(Int, Int)] = closing(open).toSeq.flatMap { close =>
      val commas = tokens.topLevel(open + 1, close).filter(kind(_) == SqlBaseLexer.COMMA)
      (open +: commas).zip(commas :+ close).map { case (from, to) => (from + 1, to - 1) }
    }

    private val pair: (Int, Int) => Option[Pair] = (first, last) =>
      // One equals sign and a value. Spark's grammar checks the value.
      if (isString(first) && kind(first + 1) == SqlBaseLexer.EQ && last >= first + 2) {
        Some(Pair(first, first + 1, last))
      } else None
  }

  /** The times of a text's time travel clauses that name a column. */
  private final class AsOfReader(tokens: TokenReader) {
    import tokens.{closing, isName, kind}

    def columns: Seq[Column] = for {
      at <- tokens.indices
      if kind(at) == SqlBaseLexer.SYSTEM_TIME || kind(at) == SqlBaseLexer.TIMESTAMP
      if kind(at + 1) == SqlBaseLexer.AS && kind(at + 2) == SqlBaseLexer.OF
      last <- columnAt(at + 3, afterFor = kind(at - 1) == SqlBaseLexer.FOR).map(castEnd)
      // An operator follows, so this is the beginning of an expression, which Spark refuses.
      if !tokens.continuesExpression(last + 1)
    } yield Column(at + 3, last)

    /** The last token of a column, or of a function or cast of one, that begins at `first`. */
    private def columnAt(first: Int, afterFor: Boolean): Option[Int] = {
      val last = tokens.nameEnd(first)
      closing(last + 1) match {
        case Some(close) if startsCall(first) && namesColumn(last + 2, close) => Some(close)
        case Some(_) => None
        case None if startsName(first, afterFor) => Some(last)
        case None => None
      }
    }

    /** The end of `o.ts` or of `o.ts::timestamp`. */
    private def castEnd(last: Int): Int =
      if (kind(last + 1) == SqlBaseLexer.DOUBLE_COLON && TIME_TYPES(kind(last + 2))) last + 2
      else last

    private def startsCall(at: Int): Boolean = isName(at) || CALLABLE(kind(at))

    /**
     * `TIMESTAMP AS OF` may also be a column `timestamp` with the alias `of`, followed by any
     * keyword. So a keyword counts as a name only where that reading is excluded.
     */
    private def startsName(at: Int, afterFor: Boolean): Boolean =
      isName(at) || tokens.isKeyword(at) &&
        (kind(at + 1) == SqlBaseLexer.DOT || afterFor && TIME_WORDS(kind(at)))

    /** Whether the range has a name that is not the name of a function, a parameter or a type. */
    private def namesColumn(from: Int, until: Int): Boolean = {
      val range = from until until
      !range.exists(kind(_) == SqlBaseLexer.SELECT) && range.exists { at =>
        isName(at) && !NO_COLUMN_BEHIND(kind(at - 1)) &&
        !NO_COLUMN_BEFORE(kind(tokens.nameEnd(at) + 1))
      }
    }
  }

  private val CALLABLE = Set(
    SqlBaseLexer.CAST,
    SqlBaseLexer.TRY_CAST,
    SqlBaseLexer.DATE,
    SqlBaseLexer.TIMESTAMP,
    SqlBaseLexer.TIMESTAMPADD,
    SqlBaseLexer.DATEADD,
    SqlBaseLexer.DATE_ADD
  )

  private val TIME_WORDS = Set(SqlBaseLexer.DATE, SqlBaseLexer.TIME, SqlBaseLexer.TIMESTAMP)

  private val TIME_TYPES = Set(
    SqlBaseLexer.DATE,
    SqlBaseLexer.TIMESTAMP,
    SqlBaseLexer.TIMESTAMP_LTZ,
    SqlBaseLexer.TIMESTAMP_NTZ)

  private val NO_COLUMN_BEHIND =
    Set(SqlBaseLexer.DOT, SqlBaseLexer.COLON, SqlBaseLexer.AS, SqlBaseLexer.COLLATE)

  private val NO_COLUMN_BEFORE = Set(SqlBaseLexer.LEFT_PAREN, SqlBaseLexer.FAT_ARROW)
}

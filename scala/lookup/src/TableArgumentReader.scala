package io.firesteel.lookup

import io.firesteel.core.parse.TokenReader

import org.apache.spark.sql.catalyst.parser.SqlBaseLexer

/**
 * The table of a window function as Flink's documents write it, which Spark's grammar refuses:
 * `TUMBLE(TABLE bid, DESCRIPTOR(ts), ...)`, `SESSION(TABLE bid PARTITION BY k, DESCRIPTOR(ts), ...)`.
 * Spark wants `TABLE(bid) PARTITION BY (k)`. The function itself may stand in `TABLE(...)`, which
 * Spark takes for a function of that name.
 */
private[lookup] final class TableArgumentReader(tokens: TokenReader) {
  import LookupClauses.{Bare, Wrapper}
  import tokens.{isKeyword, isName, isWord, kind}

  def bare: Seq[Bare] = tokens.indices.flatMap { at =>
    if (kind(at) == SqlBaseLexer.TABLE && isArgument(at)) table(at + 1)
    else if (kind(at) == SqlBaseLexer.PARTITION && kind(at + 1) == SqlBaseLexer.BY) keys(at + 2)
    else None
  }

  /** `TABLE(TUMBLE(...))`. */
  def wrappers: Seq[Wrapper] = for {
    at <- tokens.indices
    if kind(at) == SqlBaseLexer.TABLE && TableArgumentReader.windows.exists(isWord(at + 2, _))
    end <- tokens.closing(at + 1)
    if tokens.closing(at + 3).contains(end - 1) && (at until end).exists(isDescriptor)
  } yield Wrapper(at, at + 1, end)

  private def isArgument(at: Int): Boolean =
    kind(at - 1) == SqlBaseLexer.LEFT_PAREN || kind(at - 1) == SqlBaseLexer.FAT_ARROW

  private def table(first: Int): Option[Bare] =
    if (!isName(first) && !isKeyword(first)) None
    else {
      val last = tokens.nameEnd(first)
      val isOne = kind(last + 1) == SqlBaseLexer.PARTITION || isDescriptor(last + 1)
      Option.when(isOne)(Bare(first, last))
    }

  /** The keys up to the column of time, which would be one of them. */
  private def keys(first: Int): Option[Bare] =
    if (kind(first) == SqlBaseLexer.LEFT_PAREN) None
    else {
      val ours = tokens.topLevel(first, tokens.enclosingEnd(first))
      ours.find(isDescriptor).filterNot(comma => ours.exists(at => at < comma && isOrder(at)))
        .map(comma => Bare(first, comma - 1))
    }

  private def isOrder(at: Int): Boolean =
    kind(at) == SqlBaseLexer.ORDER || kind(at) == SqlBaseLexer.SORT

  private def isDescriptor(comma: Int): Boolean = kind(comma) == SqlBaseLexer.COMMA &&
    (isWord(comma + 1, "DESCRIPTOR") || kind(comma + 2) == SqlBaseLexer.FAT_ARROW)
}

private object TableArgumentReader {
  val windows: Seq[String] = Seq("TUMBLE", "HOP", "CUMULATE", "SESSION")
}

package io.firesteel.lookup

import io.firesteel.core.parse.TokenReader

import org.apache.spark.sql.catalyst.parser.SqlBaseLexer

/**
 * The table of a window function as Flink's documents write it, which Spark's grammar refuses:
 * `TUMBLE(TABLE bid, DESCRIPTOR(ts), ...)`, `SESSION(TABLE bid PARTITION BY k, DESCRIPTOR(ts), ...)`.
 * Spark wants `TABLE(bid) PARTITION BY (k)`.
 */
private[lookup] final class TableArgumentReader(tokens: TokenReader) {
  import LookupClauses.Bare
  import tokens.{isKeyword, isName, isWord, kind}

  def bare: Seq[Bare] = tokens.indices.flatMap { at =>
    if (kind(at) == SqlBaseLexer.TABLE && isArgument(at)) table(at + 1)
    else if (kind(at) == SqlBaseLexer.PARTITION && kind(at + 1) == SqlBaseLexer.BY) keys(at + 2)
    else None
  }

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

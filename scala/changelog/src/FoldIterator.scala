package io.firesteel.changelog

import org.apache.spark.sql.catalyst.InternalRow

/**
 * Folds rows by key and hands on what is left of them: after all rows, or after as many as may be
 * held at once, and then again for the rows that follow.
 *
 * Memory: `limit` entries, each a key or a row with its net change.
 */
abstract private[changelog] class FoldIterator(rows: Iterator[InternalRow], limit: Int)
  extends Iterator[InternalRow] {

  private[this] var out: Iterator[InternalRow] = Iterator.empty
  private[this] var ended = false

  /** Takes a row in. */
  protected def fold(row: InternalRow): Unit

  /** Entries that are held. */
  protected def held: Int

  /** Hands on what is held, and holds nothing once that has been read. */
  protected def drain(): Iterator[InternalRow]

  /** What comes after everything. */
  protected def atEnd(): Iterator[InternalRow] = Iterator.empty

  override def hasNext: Boolean = {
    while (!out.hasNext && !ended) {
      while (rows.hasNext && held < limit) fold(rows.next())
      if (held > 0) out = drain()
      else {
        ended = true
        out = atEnd()
      }
    }
    out.hasNext
  }

  override def next(): InternalRow =
    if (hasNext) out.next() else throw new NoSuchElementException("no more changes")
}

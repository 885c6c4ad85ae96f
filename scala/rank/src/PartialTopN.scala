package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The first rows per key of one task below the exchange.
 *
 * Being partial, it may hand over more rows than it must, never fewer. So when memory is refused it
 * empties its heaps downstream and begins anew, and when its heaps drop too few rows it steps aside
 * for good: every further row passes through untouched.
 *
 * Generated code calls it row by row, and builds a row only when it is wanted:
 * {{{
 *   if (!accepting || admits(key, prefix)) { out = take(row); if (out != null) emit(out) }
 * }}}
 * It reads `hasNext`/`next` whenever the consumer has room, and at the end of the input after
 * `finish`.
 */
final class PartialTopN private[rank] (
    heaps: Heaps,
    verdict: Verdict) {

  private[this] var collecting = true
  private[this] var aside = false

  private[this] var seenBefore = 0L
  private[this] var flushed = 0L
  private[this] var passed = 0L
  private[this] var handed = 0L

  private[this] var reader: HeapReader = _
  private[this] var ready = false // whether the reader stands on a row not yet handed over

  /** Whether rows are being collected; if not, they pass through. */
  def accepting: Boolean = collecting

  /** Whether the row with this key and prefix may have to be kept. */
  def admits(key: UnsafeRow, prefix: Long): Boolean = {
    verdict.seen += 1
    heaps.admits(key, prefix)
  }

  /** The same for a key that is one whole number. Ask either by rows or by numbers, not by both. */
  def admits(number: Long, isNull: Boolean, prefix: Long): Boolean = {
    verdict.seen += 1
    heaps.admits(number, isNull, prefix)
  }

  /** Takes a row that was admitted. Returns it when it has to go downstream now, else `null`. */
  def take(row: UnsafeRow): UnsafeRow =
    if (collecting) {
      if (!heaps.add(row)) flush()
      else if (verdict.isUseless(heaps.keys, heaps.size)) stepAside()
      null
    } else {
      passed += 1
      row
    }

  /** Ends the input: what is kept is to be read. */
  def finish(): Unit = if (collecting) handOver()

  /** Whether kept rows wait to be handed over. Once none does, rows are collected again. */
  def hasNext: Boolean = {
    if (reader != null && !ready) {
      ready = reader.advance()
      if (!ready) {
        reader = null
        heaps.clear()
        collecting = !aside
      }
    }
    ready
  }

  /** The next kept row, valid until the next call. */
  def next(): UnsafeRow = {
    ready = false
    handed += 1
    reader.row
  }

  /** Rows that came in. */
  def inputRows: Long = seenBefore + verdict.seen + passed

  /** Rows that went downstream. */
  def outputRows: Long = handed + passed

  /** Rows handed over early because memory was refused. */
  def flushedRows: Long = flushed

  /** Whether it has stepped aside. */
  def steppedAside: Boolean = aside

  private def stepAside(): Unit = {
    aside = true
    handOver()
  }

  private def flush(): Unit = {
    aside = verdict.dropsTooFew(heaps.size)
    flushed += heaps.size
    handOver()
  }

  private def handOver(): Unit = {
    collecting = false
    seenBefore += verdict.seen
    verdict.restart()
    reader = heaps.read(sorted = false)
  }
}

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
    verdict: Verdict,
    numFields: Int) {

  private[this] var collecting = true
  private[this] var aside = false

  private[this] var seenBefore = 0L
  private[this] var flushed = 0L
  private[this] var passed = 0L
  private[this] var handed = 0L

  private[this] var keys: Iterator[KeptRows] = Iterator.empty
  private[this] var rows: KeptRows = _
  private[this] var at = 0
  private[this] val out = new UnsafeRow(numFields)

  /** Whether rows are being collected; if not, they pass through. */
  def accepting: Boolean = collecting

  /** Whether the row with this key and prefix may have to be kept. */
  def admits(key: UnsafeRow, prefix: Long): Boolean = {
    verdict.seen += 1
    heaps.admits(key, prefix)
  }

  /** Takes a row that was admitted. Returns it when it has to go downstream now, else `null`. */
  def take(row: UnsafeRow): UnsafeRow =
    if (collecting) {
      if (!heaps.add(row)) flush()
      else if (verdict.isTooMuch(heaps.size)) stepAside()
      null
    } else {
      passed += 1
      row
    }

  /** Ends the input: what is kept is to be read. */
  def finish(): Unit = if (collecting) handOver()

  /** Whether kept rows wait to be handed over. Once none does, rows are collected again. */
  def hasNext: Boolean = {
    while ((rows == null || at == rows.size) && keys.hasNext) {
      rows = keys.next()
      at = 0
    }
    val more = rows != null && at < rows.size
    if (!more && !collecting && rows != null) {
      rows = null
      heaps.release()
      collecting = !aside
    }
    more
  }

  /** The next kept row, valid until the next call. */
  def next(): UnsafeRow = {
    val bytes = rows.rowAt(at)
    out.pointTo(bytes, bytes.length)
    at += 1
    handed += 1
    out
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
    aside = verdict.keepsTooMuch(heaps.size)
    flushed += heaps.size
    handOver()
  }

  private def handOver(): Unit = {
    collecting = false
    seenBefore += verdict.seen
    verdict.restart()
    keys = heaps.takeAll()
    rows = null
    at = 0
  }
}

package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The first rows per key of one task below the exchange.
 *
 * It may emit more rows than the answer has, but never fewer. If Spark refuses memory, it emits the
 * kept rows and starts with empty heaps. If its heaps drop too few rows, it stops collecting: all
 * further rows pass through unchanged.
 *
 * Generated code calls it for each row, and builds a row only if it is admitted:
 * {{{
 *   if (!accepting || admits(key, prefix)) { out = take(row); if (out != null) emit(out) }
 * }}}
 * It reads `hasNext` and `next` when the consumer has room, and after `finish` at the end of the
 * input.
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
  private[this] var ready = false // whether the reader's current row has not been emitted yet

  /** Whether rows are collected; otherwise they pass through. */
  def accepting: Boolean = collecting

  /** Whether the row with this key and prefix may have to be kept. */
  def admits(key: UnsafeRow, prefix: Long): Boolean = {
    verdict.seen += 1
    heaps.admits(key, prefix)
  }

  /** The same for a key that is one whole number. A caller uses rows or numbers, never both. */
  def admits(number: Long, isNull: Boolean, prefix: Long): Boolean = {
    verdict.seen += 1
    heaps.admits(number, isNull, prefix)
  }

  /** Takes an admitted row. Returns the row if the caller must emit it now, otherwise `null`. */
  def take(row: UnsafeRow): UnsafeRow =
    if (collecting) {
      if (!heaps.add(row)) flush()
      else if (verdict.isUseless(heaps.keys, heaps.size)) stepAside()
      null
    } else {
      passed += 1
      row
    }

  /** Ends the input. The kept rows are then ready to be read. */
  def finish(): Unit = if (collecting) handOver()

  /** Whether a kept row is ready to be emitted. After the last one, rows are collected again. */
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

  /** Rows read. */
  def inputRows: Long = seenBefore + verdict.seen + passed

  /** Rows emitted. */
  def outputRows: Long = handed + passed

  /** Rows emitted early because memory was refused. */
  def flushedRows: Long = flushed

  /** Whether it has stopped collecting, so that rows pass through. */
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

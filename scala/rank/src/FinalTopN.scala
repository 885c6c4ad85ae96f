package io.firesteel.rank

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}

/**
 * The first rows per key of one task above the exchange, where every row of a key arrives.
 *
 * Rows enter heaps. If Spark refuses memory, the heaps empty into an external sorter and start
 * again. At the end the sorter returns all rows in order, and the bound is applied to them again.
 * If heaps drop too few rows to pay off, further rows go to the sorter directly.
 *
 * @param newSorter makes the sorter, called at most once
 */
private[rank] final class FinalTopN(
    heaps: Heaps,
    keyOf: UnsafeProjection,
    prefixOf: UnsafeProjection,
    bound: RankBound,
    verdict: Verdict,
    newSorter: () => SpilledRows) {

  private[this] var sorter: Option[SpilledRows] = None

  /** Reads all of `input` and numbers what remains. */
  def number(input: Iterator[InternalRow]): NumberedRows = {
    var collecting = true
    while (collecting && input.hasNext) collecting = offer(input.next().asInstanceOf[UnsafeRow])
    sorter match {
      case None => new NumberedHeaps(heaps)
      case Some(rest) =>
        while (input.hasNext) rest.add(input.next().asInstanceOf[UnsafeRow])
        moveToSorter()
        new NumberedSortedRows(rest.sorted(), keyOf, heaps.order, bound)
    }
  }

  /** Bytes of memory spilled since the sorter was made, in the whole task. */
  def spilledBytes: Long = sorter.fold(0L)(_.spilledBytes)

  /** The most bytes that the sorter held in memory. */
  def sorterMemory: Long = sorter.fold(0L)(_.peakMemory)

  /** Offers a row to the heaps. False when further rows should go to the sorter directly. */
  private def offer(row: UnsafeRow): Boolean = {
    verdict.seen += 1
    if (!heaps.admits(keyOf(row), prefixOf(row).getLong(0))) true
    else if (!heaps.add(row)) {
      val useful = !verdict.dropsTooFew(heaps.size)
      moveToSorter()
      verdict.restart()
      useful
    } else if (verdict.isUseless(heaps.keys, heaps.size)) {
      moveToSorter()
      false
    } else true
  }

  private def moveToSorter(): Unit = {
    val rows = heaps.read(sorted = false) // first, because it releases the sorter's memory
    val into = sorter.getOrElse(newSorter())
    sorter = Some(into)
    while (rows.advance()) into.add(rows.row)
    heaps.clear()
  }
}

package io.firesteel.rank

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}

/**
 * The first rows per key of one task above the exchange, where every row of a key arrives.
 *
 * Rows go to heaps. When memory is refused the heaps are emptied into an external sorter and begin
 * anew; at the end the sorter gives all rows back in order and the bound is applied to them again.
 * When heaps drop too few rows they are only a detour: further rows go to the sorter at once.
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

  /** Offers a row to the heaps. False when further rows had better go to the sorter. */
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
    val rows = heaps.read(sorted = false) // before the sorter is made: it gives memory back
    val into = sorter.getOrElse(newSorter())
    sorter = Some(into)
    while (rows.advance()) into.add(rows.row)
    heaps.clear()
  }
}

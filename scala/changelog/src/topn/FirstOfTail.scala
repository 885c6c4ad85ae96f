package io.firesteel.changelog.topn

import java.util.{Arrays, PriorityQueue}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The first rows of a tail that is read in any order: enough to fill a head.
 *
 * A row that was retracted before its insert has a negative count. It fills no place, but it is
 * taken with the rows around it: the head must have every row before its last one.
 */
final private[topn] class FirstOfTail(ranked: RankedRows) {

  private[this] val capacity = ranked.mostRows(Head.spare)
  private[this] val worstFirst = new PriorityQueue[RankedRow](ranked.comparator.reversed)
  private[this] var filling = 0

  /** Whether no row was left out. */
  var isAll: Boolean = true

  /** Offers a row; it is copied if kept. */
  def offer(row: UnsafeRow, count: Long): Unit =
    if (filling == capacity && ranked.compare(row, worstFirst.peek.row) > 0) isAll = false
    else {
      worstFirst.add(new RankedRow(row.copy(), count, count))
      if (count > 0) filling += 1
      while (filling > capacity || filling == capacity && worstFirst.peek.after <= 0) {
        if (worstFirst.poll().after > 0) filling -= 1
        isAll = false
      }
    }

  def sorted: Array[RankedRow] = {
    val rows = worstFirst.toArray(Array.empty[RankedRow])
    Arrays.sort(rows, ranked.comparator)
    rows
  }
}

package io.firesteel.changelog.topn

import java.util.{Arrays, PriorityQueue}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The first rows of a tail that is read in any order: so many that a head can be filled with them alone.
 *
 * A row that went before it came has a count below none. It fills no place, but is taken with the rows
 * around it: the head must have all that comes before its last row.
 */
final private[topn] class FirstOfTail(ranked: RankedRows) {

  private[this] val capacity = ranked.mostRows(Head.spare)
  private[this] val worstFirst = new PriorityQueue[RankedRow](ranked.comparator.reversed)
  private[this] var filling = 0

  /** Whether no row was left out. */
  var isAll: Boolean = true

  /** Offers a row, which is copied when it is kept. */
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

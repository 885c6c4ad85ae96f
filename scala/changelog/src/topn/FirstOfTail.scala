package io.firesteel.changelog.topn

import java.util.{Arrays, PriorityQueue}

import scala.collection.mutable.ArrayBuffer

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

  // Where rows share places, their number is known only when they are in order.
  private[this] val tied = ArrayBuffer.empty[RankedRow]
  private[this] var last: RankedRow = _
  private[this] var nextCut = FirstOfTail.fewest

  /** Whether no row was left out. */
  var isAll: Boolean = true

  /** Offers a row; it is copied if kept. */
  def offer(row: UnsafeRow, count: Long): Unit =
    if (ranked.sharesPlaces) offerTied(row, count)
    else if (filling == capacity && ranked.compare(row, worstFirst.peek.row) > 0) isAll = false
    else {
      worstFirst.add(new RankedRow(row.copy(), count, count))
      if (count > 0) filling += 1
      while (filling > capacity || filling == capacity && worstFirst.peek.after <= 0) {
        if (worstFirst.poll().after > 0) filling -= 1
        isAll = false
      }
    }

  private def offerTied(row: UnsafeRow, count: Long): Unit =
    if (last != null && ranked.compare(row, last.row) > 0) isAll = false
    else {
      tied += new RankedRow(row.copy(), count, count)
      if (tied.size >= nextCut) cut()
    }

  /** Leaves out the rows after those that fill all places; rows that come can only push more out. */
  private def cut(): Unit = {
    val rows = sorted
    val needed = ranked.needed(rows)
    val kept = if (needed < 0) rows.length else math.min(rows.length, needed + Head.spare)
    if (kept < rows.length) {
      isAll = false
      last = rows(kept - 1)
      tied.clear()
      tied ++= rows.iterator.take(kept)
    }
    nextCut = math.max(FirstOfTail.fewest, 2 * kept)
  }

  def sorted: Array[RankedRow] = {
    val rows =
      if (ranked.sharesPlaces) tied.toArray else worstFirst.toArray(Array.empty[RankedRow])
    Arrays.sort(rows, ranked.comparator)
    rows
  }
}

private object FirstOfTail {

  /** Rows that are held before they are sorted to leave some out. */
  val fewest: Int = 1024
}

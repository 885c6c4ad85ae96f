package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Sorts the kept rows of each key and numbers them; keys in no particular order. */
private[rank] final class NumberedHeaps(heaps: Heaps, numFields: Int) extends NumberedRows {

  private[this] val order = heaps.order
  private[this] val keys = heaps.takeAll()
  private[this] var rows: KeptRows = _
  private[this] var at = 0

  override val row: UnsafeRow = new UnsafeRow(numFields)
  override val ranks: RankCounter = new RankCounter

  override def advance(): Boolean = {
    at += 1
    if (rows == null || at >= rows.size) nextKey()
    val more = rows != null
    if (more) {
      val bytes = rows.rowAt(at)
      row.pointTo(bytes, bytes.length)
      ranks.count(tie = at > 0 && tiesWithPrevious)
    }
    more
  }

  private def tiesWithPrevious: Boolean =
    order.compare(rows.prefixAt(at - 1), rows.rowAt(at - 1), rows.prefixAt(at), rows.rowAt(at)) == 0

  private def nextKey(): Unit =
    if (keys.hasNext) {
      rows = keys.next()
      rows.sort(order)
      ranks.reset()
      at = 0
    } else if (rows != null) {
      rows = null
      heaps.release()
    }
}

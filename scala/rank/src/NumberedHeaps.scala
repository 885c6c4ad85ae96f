package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Sorts the kept rows of each key and numbers them. Keys have no order. */
private[rank] final class NumberedHeaps(heaps: Heaps) extends NumberedRows {

  private[this] val reader = heaps.read(sorted = true)

  override val ranks: RankCounter = new RankCounter

  override def row: UnsafeRow = reader.row

  override def advance(): Boolean = {
    val more = reader.advance()
    if (more) {
      if (reader.isFirst) ranks.reset()
      ranks.count(tie = !reader.isFirst && reader.tie)
    } else heaps.clear()
    more
  }
}

package io.firesteel.changelog

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}

/**
 * Keeps, of rows that only come, each partition's own first ones: no other can be among the first
 * of all. A row that is no better than the worst of enough is dropped as it comes.
 */
final private[changelog] class PartialTopN(
    rows: Iterator[InternalRow],
    limit: Int,
    toKey: UnsafeProjection,
    ranked: RankedRows,
    places: Places)
  extends FoldIterator(rows, limit) {

  final private class Kept {
    var rows: Array[RankedRow] = Array.empty
    val fresh = new java.util.ArrayList[RankedRow]()
    var worst: UnsafeRow = _
  }

  private[this] val groups = new java.util.LinkedHashMap[UnsafeRow, Kept]()
  private[this] val slack = math.min(places.to, 1000L).toInt + 16
  private[this] var entries = 0

  override protected def held: Int = entries

  override protected def fold(row: InternalRow): Unit = {
    val own = row.asInstanceOf[UnsafeRow]
    val key = toKey(own)
    val known = groups.get(key)
    val kept = if (known != null) known else { val k = new Kept; groups.put(key.copy(), k); k }
    if (kept.worst == null || !ranked.isBeyond(own, kept.worst)) {
      kept.fresh.add(new RankedRow(own.copy(), 0L, 1L))
      entries += 1
      if (kept.fresh.size >= slack) shrink(kept)
    }
  }

  /** Sorts what has come among what is kept, and drops what is beyond the last place. */
  private def shrink(kept: Kept): Unit = {
    val all = kept.rows ++ kept.fresh.toArray(Array.empty[RankedRow])
    java.util.Arrays.sort(all, ranked.comparator)
    val within = ranked.keptAfter(all)
    kept.rows = all.filter(within.containsKey)
    kept.fresh.clear()
    entries += kept.rows.length - all.length
    // Only when something had to go is the last that stayed a bound for what comes.
    if (kept.rows.length < all.length) {
      kept.worst = if (kept.rows.isEmpty) all.head.row else kept.rows.last.row
    }
  }

  override protected def drain(): Iterator[InternalRow] = {
    val all = groups.values.iterator
    new Iterator[InternalRow] {
      private[this] var of: Array[RankedRow] = Array.empty
      private[this] var at = 0

      override def hasNext: Boolean = {
        while (at >= of.length && all.hasNext) {
          val kept = all.next()
          shrink(kept)
          of = kept.rows
          at = 0
        }
        at < of.length || {
          groups.clear()
          entries = 0
          false
        }
      }

      override def next(): InternalRow = {
        at += 1
        of(at - 1).row
      }
    }
  }
}

package io.firesteel.changelog

import scala.collection.mutable

import io.firesteel.core.KeyIndex
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeProjection, UnsafeRow}

/**
 * Keeps, of rows that are never taken back, each partition's own first ones: no other can be among
 * the first of all. A row that is no better than the worst of enough is dropped as it comes.
 *
 * @param partition in terms of places in a row
 */
final private[changelog] class PartialTopN(
    rows: Iterator[InternalRow],
    limits: FoldLimits,
    partition: Seq[Expression],
    ranked: RankedRows,
    places: Places,
    identity: RowIdentity)
  extends FoldIterator(rows, limits) {

  final private class Kept {
    var rows: Array[RankedRow] = Array.empty
    val fresh = new java.util.ArrayList[RankedRow]()
    var worst: UnsafeRow = _
  }

  private[this] val toKey = UnsafeProjection.create(partition)
  private[this] val index = new KeyIndex(KeyIndex.isNumber(partition), partition.size)
  private[this] val groups = mutable.ArrayBuffer.empty[Kept]
  private[this] val slack = math.min(places.to, 1000L).toInt + 16
  private[this] var entries = 0
  private[this] var come = 0L
  private[this] var rowBytes = 0L // of all rows that were ever kept, as is their number

  override protected def held: Int = entries

  override protected def bytes: Long =
    index.bytes + groups.size * FoldLimits.overhead + (if (come == 0) 0L
                                                       else rowBytes / come * entries)

  override protected def fold(row: InternalRow): Unit = {
    val own = row.asInstanceOf[UnsafeRow]
    val group = index.of(toKey(own))
    if (group == groups.size) groups += new Kept
    val kept = groups(group)
    if (kept.worst == null || !isBeyond(own, kept.worst)) {
      kept.fresh.add(new RankedRow(own.copy(), 0L, 1L))
      entries += 1
      come += 1
      rowBytes += own.getSizeInBytes + FoldLimits.overhead
      if (kept.fresh.size >= slack) shrink(kept)
    }
  }

  private def isBeyond(row: UnsafeRow, worst: UnsafeRow): Boolean =
    // A newer version of a row that is kept may come no earlier than it, but never later.
    if (identity.hasVersions) ranked.comesAfter(row, worst) else ranked.isBeyond(row, worst)

  /** Sorts what has come among what is kept, and drops what is beyond the last place. */
  private def shrink(kept: Kept): Unit = {
    val had = kept.rows.length + kept.fresh.size
    val all = newest(kept.rows ++ kept.fresh.toArray(Array.empty[RankedRow]))
    java.util.Arrays.sort(all, ranked.comparator)
    val within = ranked.keptAfter(all)
    kept.rows = all.filter(within.containsKey)
    entries += kept.rows.length - had
    kept.fresh.clear()
    // Only when something had to go is the last that stayed a bound for what comes.
    if (kept.rows.length < all.length) {
      kept.worst = if (kept.rows.isEmpty) all.head.row else kept.rows.last.row
    }
  }

  /** Of several versions of a row the one that came last. */
  private def newest(rows: Array[RankedRow]): Array[RankedRow] =
    if (!identity.hasVersions) rows
    else {
      val versions = new java.util.LinkedHashMap[UnsafeRow, RankedRow]()
      rows.foreach(row => versions.put(identity.keyOf(row.row).copy(), row))
      versions.values.toArray(Array.empty[RankedRow])
    }

  override protected def drain(): Iterator[InternalRow] = {
    val all = groups.iterator
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
          index.clear()
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

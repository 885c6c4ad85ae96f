package io.firesteel.changelog.topn

import io.firesteel.changelog.fold.FoldLimits
import io.firesteel.changelog.plan.Places
import io.firesteel.core.plans.Collector
import io.firesteel.core.rows.KeyIndex

import java.util.Comparator

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeRow}

/**
 * Keeps each partition's first rows among insert-only rows of a task: no other row can be among the
 * first of all tasks. A row that is no better than the worst of enough rows is dropped at once.
 *
 * A row is first tested by its partition and the first column of its order, as a number of
 * [[io.firesteel.core.rows.OrderPrefix]]: most rows fail the test and need not be built. The kept
 * rows are read as an iterator, when the operator is full and at the end.
 *
 * @param partition bound to places in a row
 */
final private[topn] class PartialTopN(
    limits: FoldLimits,
    partition: Seq[Expression],
    ranked: RankedRows,
    places: Places,
    identity: RowIdentity)
  extends Collector {

  final private class Entry(val row: UnsafeRow, var prefix: Long)

  /** The rows of a partition: `sorted` rows in order, then newer ones. */
  final private class Kept {
    var rows = new Array[Entry](8)
    var size = 0
    var sorted = 0
    var worst: Entry = _

    def add(entry: Entry): Unit = {
      if (size == rows.length) rows = java.util.Arrays.copyOf(rows, size * 2)
      rows(size) = entry
      size += 1
    }
  }

  private[this] val index = new KeyIndex(KeyIndex.isNumber(partition), partition.size)
  private[this] val groups = mutable.ArrayBuffer.empty[Kept]
  // For each group the prefix of its worst row, if it has enough rows.
  private[this] var bounds = new Array[Long](64)
  // The number of rows of each partition, if they are put into their places at once; 0 if not.
  private[this] val few =
    if (ranked.sharesPlaces || identity.hasVersions || places.to > PartialTopN.mostPlaced) 0
    else math.max(0L, places.to).toInt
  private[this] val slack = math.min(places.to, 1000L).toInt + 16
  private[this] var asked = 0
  private[this] var askedPrefix = 0L
  private[this] var entries = 0
  private[this] var come = 0L
  private[this] var rowBytes = 0L // of all rows ever kept, and their number
  private[this] var drained: Iterator[UnsafeRow] = _

  private[this] val order: Comparator[Entry] = compare(_, _)

  private def compare(a: Entry, b: Entry): Int =
    if (a.prefix != b.prefix) java.lang.Long.compare(a.prefix, b.prefix)
    else ranked.compare(a.row, b.row)

  /** Number of emitted rows. */
  var outputRows: Long = 0L

  /** Whether a row may be among the first of its partition, a number. */
  def wants(partition: Long, prefix: Long): Boolean = isWithin(index.of(partition), prefix)

  /** The same for the null partition. */
  def wantsOfNull(prefix: Long): Boolean = isWithin(index.ofNull(), prefix)

  def wants(partition: UnsafeRow, prefix: Long): Boolean = isWithin(index.of(partition), prefix)

  private def isWithin(group: Int, prefix: Long): Boolean = {
    asked = group
    askedPrefix = prefix
    if (group == groups.size) {
      groups += new Kept
      if (group == bounds.length) bounds = java.util.Arrays.copyOf(bounds, group * 2)
      bounds(group) = Long.MaxValue
    }
    prefix <= bounds(group)
  }

  /** Keeps the row that was tested last; see [[isFull]]. */
  def take(row: UnsafeRow): Unit = {
    val kept = groups(asked)
    val isKept = kept.worst == null || !isBeyond(row, kept.worst)
    if (isKept && few > 0) place(kept, row)
    else if (isKept) {
      kept.add(new Entry(row.copy(), askedPrefix))
      entries += 1
      come += 1
      rowBytes += row.getSizeInBytes + FoldLimits.overhead
      // Ties are all kept. The sorted part grows with them, or sorting would be quadratic.
      if (kept.size - kept.sorted >= math.max(slack, kept.sorted)) {
        shrink(kept)
        if (kept.worst != null) bounds(asked) = kept.worst.prefix
      }
    }
  }

  /** Puts a row into its place, of which the last one leaves if there are enough: its memory is used. */
  private def place(kept: Kept, row: UnsafeRow): Unit = {
    val isFull = kept.worst != null
    if (isFull) {
      // A much larger array would be held for a small row.
      val room = kept.worst.row.getBaseObject.asInstanceOf[Array[Byte]].length
      if (room <= 2 * row.getSizeInBytes) {
        kept.worst.row.copyFrom(row)
        kept.worst.prefix = askedPrefix
      } else kept.rows(kept.size - 1) = new Entry(row.copy(), askedPrefix)
    } else {
      kept.add(new Entry(row.copy(), askedPrefix))
      entries += 1
    }
    come += 1
    rowBytes += row.getSizeInBytes + FoldLimits.overhead
    val (rows, entry) = (kept.rows, kept.rows(kept.size - 1))
    var at = kept.size - 1
    while (at > 0 && compare(entry, rows(at - 1)) < 0) {
      rows(at) = rows(at - 1)
      at -= 1
    }
    rows(at) = entry
    if (kept.size == few) {
      kept.worst = rows(few - 1)
      bounds(asked) = kept.worst.prefix
    }
  }

  private def isBeyond(row: UnsafeRow, worst: Entry): Boolean =
    askedPrefix >= worst.prefix && {
      // A newer version of a kept row may keep its place or improve it, but never lose it.
      if (identity.hasVersions) ranked.comesAfter(row, worst.row)
      else ranked.isBeyond(row, worst.row)
    }

  /** Whether the held rows must be read before the next one is kept. */
  def isFull: Boolean =
    entries > 0 && (entries >= limits.entries || !limits.budget.hold(bytes))

  private def bytes: Long =
    index.bytes + groups.size * FoldLimits.overhead +
      (if (come == 0) 0L else rowBytes / come * entries)

  /** Makes the held rows available to read; nothing is held after that. */
  override def finish(): Unit = {
    drained = groups.iterator.flatMap { kept =>
      if (few == 0) shrink(kept)
      kept.rows.iterator.take(kept.size).map(_.row)
    }
  }

  override def hasNext: Boolean = drained != null && (drained.hasNext || {
    clear()
    false
  })

  private def clear(): Unit = {
    drained = null
    index.clear()
    groups.clear()
    entries = 0
    limits.budget.releaseTo(bytes)
  }

  override def next(): UnsafeRow = {
    outputRows += 1
    drained.next()
  }

  /** Sorts the new rows into the kept ones, and drops rows beyond the last place. */
  private def shrink(kept: Kept): Unit = {
    val had = kept.size
    if (identity.hasVersions) keepNewest(kept)
    java.util.Arrays.sort(kept.rows, 0, kept.size, order)
    val within = ranked.within(kept.size, at => kept.rows(at).row)
    // The last row is a bound only if rows were dropped.
    if (within < kept.size) kept.worst = kept.rows(math.max(within - 1, 0))
    java.util.Arrays.fill(kept.rows.asInstanceOf[Array[AnyRef]], within, had, null)
    kept.size = within
    kept.sorted = within
    entries += within - had
  }

  /** Keeps the newest of several versions of a row. */
  private def keepNewest(kept: Kept): Unit = {
    val versions = new java.util.LinkedHashMap[UnsafeRow, Entry]()
    (0 until kept.size).foreach { at =>
      val entry = kept.rows(at)
      versions.put(identity.keyOf(entry.row).copy(), entry)
    }
    kept.size = 0
    versions.values.forEach(kept.add(_))
  }
}

private object PartialTopN {

  /** More places are found by sorting: each row that is put into its place moves those behind it. */
  val mostPlaced: Long = 32L
}

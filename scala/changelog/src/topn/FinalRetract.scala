package io.firesteel.changelog.topn

import io.firesteel.changelog.fold.FoldLimits
import io.firesteel.changelog.state.StateEntries
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * A Top-N over an input with retractions (Flink: Retract).
 *
 * All rows of a partition are in the state. The first ones, somewhat more than n, are the head, in
 * one entry. Each other row has its own entry in the tail. A change costs the head and at most one
 * entry of the tail. The tail is read only if so many rows of the head were retracted that the rest
 * may not fill all places; the head then takes as many rows from the tail as it can hold.
 *
 * Memory: a head, and while the tail is read, twice as many rows as a head holds. For `RANK` and
 * `DENSE_RANK` any number of rows may tie for a place: then all of these.
 */
final private[topn] class FinalRetract(
    rows: Iterator[InternalRow],
    limits: FoldLimits,
    layout: TopNLayout,
    kindAt: Int,
    ranked: RankedRows,
    changes: PlaceChanges,
    output: PlacedOutput,
    entries: StateEntries)
  extends PartitionedFold(rows, limits, layout, kindAt, RowIdentity.of(Nil), output) {

  private[this] val rowsOf = new RetractRows(layout)

  override protected def settle(partition: UnsafeRow, pending: PendingRows): Seq[PlaceChange] = {
    val head = rowsOf.read(entries.get(rowsOf.headKeyOf(partition)))
    val bound = if (head.isAll || head.rows.isEmpty) null else head.rows.last
    val stored = head.rows.map(row => pending.of(row.row, row.before))
    val (within, beyond) = pending.others.partition { row =>
      bound == null || ranked.comparator.compare(row, bound) <= 0
    }
    beyond.foreach(addToTail)
    // With a time to live the head must not expire before its tail.
    if (within.isEmpty && stored.forall(row => row.after == row.before) && !entries.expires) Nil
    else placed(partition, head, stored ++ within)
  }

  /** @param sorted rows of the head and new ones within it, not yet in order */
  private def placed(
      partition: UnsafeRow,
      head: Head,
      sorted: Array[RankedRow]): Seq[PlaceChange] = {
    sorted.foreach(row => row.after = entries.present(row.after))
    java.util.Arrays.sort(sorted, ranked.comparator)
    val before = ranked.placed(sorted, _.before)
    val now = filled(partition, sorted.filter(_.after != 0L), head.isAll)
    val after = ranked.placed(now.rows, _.after)
    save(partition, now)
    changes.of(before, after)
  }

  /** The head with as many rows as it needs, at most as many as it may hold. */
  private def filled(partition: UnsafeRow, rows: Array[RankedRow], isAll: Boolean): Head = {
    val needed = ranked.needed(rows)
    if (needed < 0 && !isAll) fromTail(partition, rows)
    else if (needed >= 0 && rows.length > needed + 2 * Head.spare) cut(rows, needed + Head.spare)
    else Head(rows, isAll)
  }

  /** Moves the rows after the first `kept` ones to the tail. */
  private def cut(rows: Array[RankedRow], kept: Int): Head = {
    rows.drop(kept).foreach(row => putInTail(row.row, row.after))
    Head(rows.take(kept), isAll = false)
  }

  /** Takes the tail's first rows; all of them come after the head's. */
  private def fromTail(partition: UnsafeRow, rows: Array[RankedRow]): Head = {
    val tail = new FirstOfTail(ranked)
    entries.scan(rowsOf.tailOf(partition)) { (key, value) =>
      tail.offer(rowsOf.rowOf(key), rowsOf.countOf(value))
    }
    val sorted = tail.sorted
    val needed = ranked.needed(rows ++ sorted)
    val taken =
      if (needed < 0) sorted.length
      else math.min(sorted.length, needed + Head.spare - rows.length)
    sorted.take(taken).foreach(row => removeFromTail(row.row))
    Head(rows ++ sorted.take(taken), isAll = tail.isAll && taken == sorted.length)
  }

  private def addToTail(row: RankedRow): Unit =
    if (row.after != 0L) {
      val stored = entries.get(rowsOf.tailKeyOf(row.row))
      val before = if (stored == null) 0L else rowsOf.countOf(stored)
      val count = entries.present(before + row.after)
      if (count == 0L) removeFromTail(row.row) else putInTail(row.row, count)
    }

  private def putInTail(row: UnsafeRow, count: Long): Unit =
    entries.put(rowsOf.tailKeyOf(row), rowsOf.valueOf(count))

  private def removeFromTail(row: UnsafeRow): Unit = entries.remove(rowsOf.tailKeyOf(row))

  private def save(partition: UnsafeRow, head: Head): Unit = {
    val key = rowsOf.headKeyOf(partition)
    if (head.rows.isEmpty && head.isAll) entries.remove(key)
    else entries.put(key, rowsOf.valueOf(head))
  }
}

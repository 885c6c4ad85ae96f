package io.firesteel.changelog.over

import scala.collection.mutable.ArrayBuffer

/**
 * Finds the rows that the changes of a partition affect: those whose frames reach a changed row.
 *
 * From each change it walks to both sides as far as frames reach it, and as far again as the frames
 * of the affected rows reach. Changes that are so near to each other that they share rows are in
 * one span.
 */
final private[over] class OverSpans(partition: OverPartition, frames: OverFrames) {

  /** The spans of changes at these positions, which are in order. */
  def of(changed: IndexedSeq[Long]): Iterator[OverSpan] = new Iterator[OverSpan] {
    private[this] var at = 0
    override def hasNext: Boolean = at < changed.length
    override def next(): OverSpan = {
      val (rows, affected) = (ArrayBuffer.empty[OverEntry], ArrayBuffer.empty[Boolean])
      before(changed(at), rows, affected)
      val end = ahead(changed(at), rows, affected)
      while (at < changed.length && (end < 0 || changed(at) < end)) at += 1
      new OverSpan(OverSpans.this.partition, rows.toArray, affected.toArray)
    }
  }

  /** Adds the rows before a change. */
  private def before(
      change: Long,
      rows: ArrayBuffer[OverEntry],
      affected: ArrayBuffer[Boolean]): Unit = {
    val changed = partition.entry(change).row
    var first = changed
    var (between, position) = (0L, partition.before(change))
    while (position >= 0 &&
      frames.reachAhead(partition.entry(position).row, changed, between)) {
      add(position, isAffected = true, rows, affected)
      first = partition.entry(position).row
      between += partition.entry(position).copies
      position = partition.before(position)
    }
    between = 0L
    while (position >= 0 && frames.reachBack(first, partition.entry(position).row, between)) {
      add(position, isAffected = false, rows, affected)
      between += partition.entry(position).copies
      position = partition.before(position)
    }
    reverse(rows)
    reverse(affected)
  }

  /** Adds a change and the rows after it; returns the position after them, -1 at the end. */
  private def ahead(
      change: Long,
      rows: ArrayBuffer[OverEntry],
      affected: ArrayBuffer[Boolean]): Long = {
    add(change, isAffected = true, rows, affected)
    var (changed, last) = (partition.entry(change).row, partition.entry(change).row)
    var (sinceChange, sinceLast) = (0L, 0L)
    var (position, more) = (partition.after(change), true)
    while (position >= 0 && more) {
      val entry = partition.entry(position)
      if (entry.isChanged) {
        addBefore(entry, rows, affected)
        add(position, isAffected = true, rows, affected)
        changed = entry.row
        last = entry.row
        sinceChange = 0L
        sinceLast = 0L
      } else if (frames.reachBack(entry.row, changed, sinceChange)) {
        add(position, isAffected = true, rows, affected)
        last = entry.row
        sinceChange += entry.copies
        sinceLast = 0L
      } else if (frames.reachAhead(last, entry.row, sinceLast)) {
        add(position, isAffected = false, rows, affected)
        sinceChange += entry.copies
        sinceLast += entry.copies
      } else more = false
      if (more) position = partition.after(position)
    }
    position
  }

  /** Marks the rows of the span before one more change, as far as their frames reach it. */
  private def addBefore(
      change: OverEntry,
      rows: ArrayBuffer[OverEntry],
      affected: ArrayBuffer[Boolean]): Unit = {
    var (i, between) = (rows.length - 1, 0L)
    // Rows before an earlier change of which frames reach this one reach that one, too.
    while (i >= 0 && !rows(i).isChanged && frames.reachAhead(rows(i).row, change.row, between)) {
      affected(i) = true
      between += rows(i).copies
      i -= 1
    }
  }

  private def add(
      position: Long,
      isAffected: Boolean,
      rows: ArrayBuffer[OverEntry],
      affected: ArrayBuffer[Boolean]): Unit = {
    rows += partition.entry(position)
    affected += isAffected
  }

  private def reverse[T](all: ArrayBuffer[T]): Unit = {
    var (i, j) = (0, all.length - 1)
    while (i < j) {
      val its = all(i)
      all(i) = all(j)
      all(j) = its
      i += 1
      j -= 1
    }
  }
}

package io.firesteel.changelog.over

import io.firesteel.changelog.fold.Tally
import io.firesteel.core.rows.MergeableAggregates

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{JoinedRow, UnsafeProjection, UnsafeRow}

/**
 * Functions over all rows from the partition's first one to the current row: running totals,
 * rankings. They go on from the buffers before the first changed block, once with the rows as they
 * were and once as they are, until both have the same buffers and no change is left.
 *
 * @param byPeers whether the frame of a row ends with the last row of an equal order (`RANGE`)
 * @param areEqual whether two rows have an equal order
 * @param toValues the functions' results as a row
 * @param toResult a row and its results, as a row of the result
 */
final private[over] class OverRunning(
    functions: MergeableAggregates,
    byPeers: Boolean,
    areEqual: (UnsafeRow, UnsafeRow) => Boolean,
    toValues: UnsafeProjection,
    toResult: UnsafeProjection) {

  private[this] val joined = new JoinedRow
  private[this] val group = ArrayBuffer.empty[OverEntry]

  /** The net changes of the result, if rows at these positions have changed. */
  def of(partition: OverPartition, changed: IndexedSeq[Long]): Tally.Map = {
    val net = new Tally.Map()
    if (changed.nonEmpty) {
      val starts = new java.util.IdentityHashMap[OverEntry, OverBlock]()
      partition.arranged.foreach(block => if (block.isChanged) starts.put(block.rows.head, block))
      val first = math.min(
        partition.startOf(firstPeer(partition, changed.head)),
        partition.firstRearranged.getOrElse(Long.MaxValue))
      val (old, now) = (buffer(partition, first), buffer(partition, first))
      group.clear()
      var position = first
      while (position >= 0) {
        val entry = partition.entry(position)
        if (group.nonEmpty && !(byPeers && areEqual(group.last.row, entry.row)))
          emit(old, now, net)
        if (isSettled(partition, position, old, now)) position = -1L
        else {
          val made = starts.get(entry)
          if (made != null) made.start = functions.state(now).copy()
          if (partition.isStart(position))
            partition.setBufferBefore(position, functions.state(now).copy())
          group += entry
          if (byPeers) {
            add(old, entry, entry.before)
            add(now, entry, entry.after)
          }
          position = partition.after(position)
        }
      }
      emit(old, now, net)
    }
    net
  }

  private def buffer(partition: OverPartition, start: Long): InternalRow = {
    val state = partition.bufferBefore(start)
    if (state == null) functions.newBuffer() else functions.restored(state)
  }

  /** The first row with the order of this one. */
  private def firstPeer(partition: OverPartition, position: Long): Long = {
    var first = position
    if (byPeers) {
      var before = partition.before(first)
      while (before >= 0 &&
        areEqual(partition.entry(before).row, partition.entry(first).row)) {
        first = before
        before = partition.before(first)
      }
    }
    first
  }

  /** Whether all results from here on are as they were; the rows before are emitted. */
  private def isSettled(
      partition: OverPartition,
      position: Long,
      old: InternalRow,
      now: InternalRow): Boolean =
    group.isEmpty && partition.isStart(position) && !partition.hasChangesFrom(position) &&
      functions.state(old).copy() == functions.state(now)

  private def add(buffer: InternalRow, entry: OverEntry, copies: Long): Unit = {
    var i = copies
    while (i > 0L) {
      functions.update(buffer, entry.row)
      i -= 1
    }
  }

  /** Adds what differs in the results of a group of rows. */
  private def emit(old: InternalRow, now: InternalRow, net: Tally.Map): Unit = {
    if (byPeers) {
      if (group.nonEmpty) {
        val (before, after) = (values(old).copy(), values(now))
        val same = before == after
        group.foreach { entry =>
          if (!same || entry.isChanged) {
            tally(entry, before, -entry.copies, net)
            tally(entry, after, math.max(entry.after, 0L), net)
          }
        }
      }
    } else group.foreach(each(_, old, now, net))
    group.clear()
  }

  private def each(entry: OverEntry, old: InternalRow, now: InternalRow, net: Tally.Map): Unit = {
    var i = 0L
    while (i < math.max(entry.before, entry.after)) {
      val (was, is) = (i < entry.before, i < entry.after)
      if (was) functions.update(old, entry.row)
      if (is) functions.update(now, entry.row)
      val before = if (was) values(old).copy() else null
      if (!was || !is || before != values(now)) {
        if (was) tally(entry, before, -1L, net)
        if (is) tally(entry, values(now), 1L, net)
      }
      i += 1
    }
  }

  private def values(buffer: InternalRow): UnsafeRow = toValues(functions.results(buffer))

  private def tally(entry: OverEntry, values: UnsafeRow, count: Long, net: Tally.Map): Unit =
    if (count != 0L) Tally.add(net, toResult(joined(entry.row, values)), count)
}

package io.firesteel.changelog.topn

import io.firesteel.changelog.fold.{FoldIterator, FoldLimits}
import io.firesteel.changelog.state.StateEntries
import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The first row of each partition (Flink: FastTop1, Deduplicate): one access to a partition's only
 * entry per micro-batch.
 */
final private[topn] class FinalFirst(
    rows: Iterator[InternalRow],
    limits: FoldLimits,
    layout: TopNLayout,
    first: FirstRows,
    updateBefore: Boolean,
    output: PlacedOutput,
    entries: StateEntries)
  extends FoldIterator(rows, limits) {

  private[this] val made = new TopNRows(layout)

  override protected def held: Int = first.size

  override protected def bytes: Long = first.bytes

  override protected def fold(row: InternalRow): Unit = first.offer(made.rowOf(row))

  override protected def drain(): Iterator[InternalRow] =
    (0 until first.size).iterator.flatMap(settle).concat {
      first.clear()
      Iterator.empty
    }

  private def settle(at: Int): Iterator[InternalRow] = {
    val (partition, row) = (first.key(at), first.row(at))
    val stored = entries.get(partition)
    if (stored == null) {
      put(partition, row)
      Iterator.single(output(row, 1, RowKind.Insert))
    } else {
      val before = made.joinedRow(partition, stored)
      if (row == before || !first.replaces(row, before)) Iterator.empty
      else {
        put(partition, row)
        val after = Iterator.single((row, RowKind.UpdateAfter))
        val told =
          if (updateBefore) Iterator.single((before.copy(), RowKind.UpdateBefore)) ++ after
          else after
        told.map { case (of, kind) => output(of, 1, kind) }
      }
    }
  }

  private def put(partition: UnsafeRow, row: UnsafeRow): Unit =
    entries.put(partition, made.columnsOf(row))
}

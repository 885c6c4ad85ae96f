package io.firesteel.changelog.topn

import io.firesteel.changelog.fold.{FoldIterator, FoldLimits}
import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Folds the rows of a Top-N by partition, and emits the changes of each partition.
 *
 * @param kindAt place of a row's kind; -1 for an insert-only input
 */
abstract private[topn] class PartitionedFold(
    rows: Iterator[InternalRow],
    limits: FoldLimits,
    layout: TopNLayout,
    kindAt: Int,
    identity: RowIdentity,
    output: PlacedOutput)
  extends FoldIterator(rows, limits) {

  private[this] val partitions = new java.util.LinkedHashMap[UnsafeRow, PendingRows]()
  final protected val made: TopNRows = new TopNRows(layout)
  private[this] var entries = 0
  private[this] var rowBytes = 0L

  /** Updates a partition's entries; returns the changes of its places. */
  protected def settle(partition: UnsafeRow, pending: PendingRows): Seq[PlaceChange]

  override protected def held: Int = entries

  override protected def bytes: Long = rowBytes

  override protected def fold(input: InternalRow): Unit = {
    val sign = if (kindAt >= 0 && RowKind.isRetraction(input.getByte(kindAt))) -1L else 1L
    val key = made.partitionOf(input)
    val known = partitions.get(key)
    val pending =
      if (known != null) known
      else {
        val fresh = PendingRows.of(identity)
        partitions.put(key.copy(), fresh)
        rowBytes += key.getSizeInBytes + 2 * FoldLimits.overhead
        fresh
      }
    val (before, row) = (pending.size, made.rowOf(input))
    pending.add(row, sign)
    entries += pending.size - before
    rowBytes += (pending.size - before) * (row.getSizeInBytes + FoldLimits.overhead)
  }

  override protected def drain(): Iterator[InternalRow] = {
    val all = partitions.entrySet.iterator
    val told = new Iterator[Iterator[InternalRow]] {
      override def hasNext: Boolean = all.hasNext
      override def next(): Iterator[InternalRow] = {
        val partition = all.next()
        settle(partition.getKey, partition.getValue).iterator.map { change =>
          output(change.placed.row, change.placed.place, change.kind)
        }
      }
    }.flatten
    told.concat {
      partitions.clear()
      entries = 0
      rowBytes = 0L
      Iterator.empty
    }
  }
}

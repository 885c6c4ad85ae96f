package io.firesteel.changelog.topn

import io.firesteel.changelog.fold.{FoldIterator, FoldLimits}
import io.firesteel.core.changes.RowKind
import io.firesteel.core.rows.{KeyIndex, WordColumn}

import java.util.Arrays

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

  private[this] val partitions =
    new KeyIndex(KeyIndex.isNumber(layout.partition), layout.partition.size)
  // The columns of the partition are the first ones.
  private[this] val word =
    WordColumn.of(layout.partition.indices, layout.partition.map(_.dataType))
  private[this] var changes = new Array[PendingRows](PartitionedFold.start) // by partition
  final protected val made: TopNRows = new TopNRows(layout)
  private[this] var entries = 0
  private[this] var rowBytes = 0L

  /**
   * Updates a partition's entries; returns the changes of its places.
   *
   * @param partition its key, valid for the call
   */
  protected def settle(partition: UnsafeRow, pending: PendingRows): Seq[PlaceChange]

  override protected def held: Int = entries

  override protected def bytes: Long = partitions.bytes + rowBytes

  override protected def fold(input: InternalRow): Unit = {
    val sign = if (kindAt >= 0 && RowKind.isRetraction(input.getByte(kindAt))) -1L else 1L
    val pending = pendingOf(partitionOf(input))
    val (before, row) = (pending.size, made.rowOf(input))
    pending.add(row, sign)
    entries += pending.size - before
    rowBytes += (pending.size - before) * (row.getSizeInBytes + FoldLimits.overhead)
  }

  private def partitionOf(input: InternalRow): Int = input match {
    case row: UnsafeRow if word != null && !word.isNull(row) => partitions.of(word(row))
    case other => partitions.of(made.partitionOf(other))
  }

  private def pendingOf(partition: Int): PendingRows = {
    if (partition >= changes.length) changes = Arrays.copyOf(changes, 2 * partition)
    if (changes(partition) == null) {
      changes(partition) = PendingRows.of(identity)
      rowBytes += FoldLimits.overhead
    }
    changes(partition)
  }

  override protected def drain(): Iterator[InternalRow] = {
    val told = Iterator.range(0, partitions.size).flatMap { at =>
      val settled = settle(partitions.key(at), changes(at))
      changes(at) = null
      settled.iterator.map { change =>
        output(change.placed.row, change.placed.place, change.kind)
      }
    }
    told.concat {
      partitions.clear()
      changes = new Array[PendingRows](PartitionedFold.start)
      entries = 0
      rowBytes = 0L
      Iterator.empty
    }
  }
}

private object PartitionedFold {

  /** Partitions for which there is room at first. */
  private val start = 64
}

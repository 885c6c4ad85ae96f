package io.firesteel.changelog.over

import io.firesteel.changelog.fold.{FoldIterator, FoldLimits, Tally}
import io.firesteel.core.changes.RowKind

import java.util.Comparator

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}

/**
 * Folds the rows of an OVER by partition, and emits the changes of each partition.
 *
 * @param kindAt place of a row's kind; -1 for an insert-only input
 */
final private[over] class OverIterator(
    input: Iterator[InternalRow],
    limits: FoldLimits,
    kindAt: Int,
    toPartition: UnsafeProjection,
    toRow: UnsafeProjection,
    order: Comparator[UnsafeRow],
    strategy: OverStrategy,
    changes: OverChanges,
    state: OverState)
  extends FoldIterator(input, limits) {

  private[this] val partitions = new java.util.LinkedHashMap[UnsafeRow, Tally.Map]()
  private[this] var rows = 0
  private[this] var rowBytes = 0L
  private[this] var isBefore = false

  override protected def held: Int = rows
  override protected def bytes: Long = rowBytes

  // An update is emitted as one, or it would be a deletion in a result that has none.
  override protected def isBetween: Boolean = isBefore

  override protected def fold(input: InternalRow): Unit = {
    val kind = if (kindAt < 0) RowKind.Insert else input.getByte(kindAt)
    val sign = if (RowKind.isRetraction(kind)) -1L else 1L
    isBefore = kind == RowKind.UpdateBefore
    val partition = toPartition(input)
    var tallies = partitions.get(partition)
    if (tallies == null) {
      tallies = new Tally.Map()
      partitions.put(partition.copy(), tallies)
      rowBytes += partition.getSizeInBytes + 2 * FoldLimits.overhead
    }
    val (before, row) = (tallies.size, toRow(input))
    Tally.add(tallies, row, sign)
    if (tallies.size > before) {
      rows += 1
      rowBytes += row.getSizeInBytes + FoldLimits.overhead
    }
  }

  override protected def drain(): Iterator[InternalRow] = {
    val changed = partitions.entrySet.iterator.asScala.flatMap { its =>
      settle(its.getKey, its.getValue)
    }
    changes.of(strategy.results(changed)).concat {
      partitions.clear()
      rows = 0
      rowBytes = 0L
      Iterator.empty
    }
  }

  /** The partition with its changes; none if nothing changes. */
  private def settle(
      partition: UnsafeRow,
      tallies: Tally.Map): Option[(OverPartition, IndexedSeq[Long])] = {
    val sorted = Array.newBuilder[(UnsafeRow, Long)]
    tallies.forEach((row, tally) => if (tally.count != 0L) sorted += row -> tally.count)
    val changes = sorted.result().sortWith((a, b) => order.compare(a._1, b._1) < 0)
    Option.when(changes.nonEmpty || state.entries.expires) {
      val its = new OverPartition(state, partition, order)
      (its, its.add(changes))
    }
  }
}

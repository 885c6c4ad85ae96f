package io.firesteel.changelog.topn

import io.firesteel.changelog.fold.{FoldIterator, FoldLimits}
import io.firesteel.core.rows.{ColumnProjection, KeyIndex}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeRow}

/**
 * The first row of each partition: deduplication, and every other Top-1.
 *
 * @param partition bound to places in a row
 */
final private[changelog] class FirstRows(
    partition: Seq[Expression],
    ranked: RankedRows,
    identity: RowIdentity) {

  private[this] val index = new KeyIndex(KeyIndex.isNumber(partition), partition.size)
  private[this] val toPartition = ColumnProjection(partition)
  private[this] var rows = new Array[UnsafeRow](64)
  private[this] var rowBytes = 0L

  /** Number of partitions. */
  def size: Int = index.size

  /** Bytes that are held, by estimate. */
  def bytes: Long = index.bytes + rows.length * 8L + rowBytes

  def key(at: Int): UnsafeRow = index.key(at)

  def row(at: Int): UnsafeRow = rows(at)

  /** Whether a row replaces an earlier one. */
  def replaces(row: UnsafeRow, first: UnsafeRow): Boolean =
    identity.same(row, first) || ranked.compare(row, first) < 0

  def offer(row: UnsafeRow): Unit = {
    val before = index.size
    val at = index.of(toPartition(row))
    if (at == before) {
      if (at == rows.length) rows = java.util.Arrays.copyOf(rows, at * 2)
      rows(at) = row.copy()
      rowBytes += row.getSizeInBytes + FoldLimits.overhead
    } else if (replaces(row, rows(at))) rows(at) = row.copy()
  }

  def clear(): Unit = {
    index.clear()
    rows = new Array[UnsafeRow](64)
    rowBytes = 0L
  }
}

/** Keeps the first row of each partition in a task, below the exchange. */
final private[changelog] class PartialFirst(
    rows: Iterator[InternalRow],
    limits: FoldLimits,
    first: FirstRows)
  extends FoldIterator(rows, limits) {

  override protected def held: Int = first.size

  override protected def bytes: Long = first.bytes

  private[this] var come = 0L

  override protected def gainsLittle: Boolean = FoldIterator.gainsLittle(come, first.size)

  override protected def fold(row: InternalRow): Unit = {
    first.offer(row.asInstanceOf[UnsafeRow])
    come += 1
  }

  override protected def drain(): Iterator[InternalRow] =
    (0 until first.size).iterator.map(first.row).concat {
      first.clear()
      Iterator.empty
    }
}

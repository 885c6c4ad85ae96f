package io.firesteel.changelog.complete

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.fold.{FoldIterator, FoldLimits, Tally}
import io.firesteel.changelog.state.StateEntries
import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType}

/** Updates a table of rows and their counts, and emits all of its rows. */
final private[complete] class WholeTable(
    rows: Iterator[InternalRow],
    limits: FoldLimits,
    toRow: UnsafeProjection,
    kindAt: Int,
    entries: StateEntries)
  extends FoldIterator(rows, limits) {

  private[this] val tallies = new Tally.Map()
  private[this] var rowBytes = 0L
  private[this] val toCount = ColumnProjection(Array(LongType: DataType))

  override protected def held: Int = tallies.size

  override protected def bytes: Long = rowBytes

  override protected def fold(input: InternalRow): Unit = {
    val sign = if (kindAt >= 0 && RowKind.isRetraction(input.getByte(kindAt))) -1L else 1L
    val (before, row) = (tallies.size, toRow(input))
    Tally.add(tallies, row, sign)
    if (tallies.size > before) rowBytes += row.getSizeInBytes + FoldLimits.overhead
  }

  override protected def drain(): Iterator[InternalRow] = {
    tallies.forEach((row, tally) => if (tally.count != 0L) add(row, tally.count))
    tallies.clear()
    rowBytes = 0L
    Iterator.empty
  }

  private def add(row: UnsafeRow, count: Long): Unit = {
    val stored = entries.get(row)
    val now = entries.present(count + (if (stored == null) 0L else stored.getLong(0)))
    if (now == 0L) entries.remove(row)
    else entries.put(row, toCount(InternalRow(now)))
  }

  override protected def atEnd(): Iterator[InternalRow] = {
    entries.all.flatMap { entry =>
      val copies = entry.value.getLong(0)
      Iterator.range(0, math.max(copies, 0L).toInt).map(_ => entry.key: InternalRow)
    }
  }
}

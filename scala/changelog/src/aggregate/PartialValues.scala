package io.firesteel.changelog.aggregate

import io.firesteel.changelog.fold.{PackedValues, ValueTallies}
import io.firesteel.core.rows.ColumnProjection

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeRow}

/** The values of sets in the rows of a task. Sets that differ by their filters share their values. */
final private[aggregate] class PartialValues(layout: AggregateLayout) {
  import PartialValues._

  private[this] val shared: Array[Shared] =
    layout.sets.indices.groupBy { set =>
      val of = layout.sets(set)
      (of.columns, of.types, of.keepsNulls)
    }.values.toArray.sortBy(_.head).map(sets => new Shared(layout, sets.toArray))

  /** Number of values. */
  def size: Int = {
    var (sum, i) = (0, 0)
    while (i < shared.length) {
      sum += shared(i).tallies.size
      i += 1
    }
    sum
  }

  /** Bytes that are held, by estimate. */
  def bytes: Long = {
    var (sum, i) = (0L, 0)
    while (i < shared.length) {
      sum += shared(i).tallies.bytes
      i += 1
    }
    sum
  }

  /** Adds `sign` rows to the values of a row. */
  def add(group: Int, row: InternalRow, sign: Int): Unit = {
    var i = 0
    while (i < shared.length) {
      shared(i).add(group, row, sign)
      i += 1
    }
  }

  /** The values of all sets that have changed, packed by set and group. */
  def packed(groups: Int)(made: (Int, Int, Array[Byte]) => InternalRow): Iterator[InternalRow] =
    shared.iterator.flatMap(_.packed(groups)(made))

  def clear(): Unit = shared.foreach(_.tallies.clear())
}

private object PartialValues {

  /** A row between the halves has values of at most so many entries of the store. */
  private val bucketsPerRow = 16

  final private class Shared(layout: AggregateLayout, sets: Array[Int]) {
    private[this] val first = layout.sets(sets.head)
    private[this] val columns = first.columns.toArray
    private[this] val filters = sets.map(set => layout.sets(set).filter.getOrElse(-1))
    private[this] val toValue = ColumnProjection(first.columns.zip(first.types).map {
      case (column, t) => BoundReference(column, t, nullable = true)
    })

    val tallies = new ValueTallies(first.isNumber, sets.length)

    def add(group: Int, row: InternalRow, sign: Int): Unit =
      if (first.keepsNulls || hasAll(row)) {
        var (entry, i) = (-1, 0)
        while (i < filters.length) {
          if (filters(i) < 0 || (!row.isNullAt(filters(i)) && row.getBoolean(filters(i)))) {
            if (entry < 0) entry = entryOf(group, row)
            tallies.addTo(entry, sign.toLong, i)
          }
          i += 1
        }
      }

    private def hasAll(row: InternalRow): Boolean = {
      var i = 0
      while (i < columns.length && !row.isNullAt(columns(i))) i += 1
      i == columns.length
    }

    private def entryOf(group: Int, row: InternalRow): Int = row match {
      case unsafe: UnsafeRow if first.isNumber =>
        tallies.ofNumber(group, unsafe.getLong(columns(0)))
      case other => tallies.of(group, toValue(other))
    }

    def packed(groups: Int)(made: (Int, Int, Array[Byte]) => InternalRow): Iterator[InternalRow] = {
      val (order, starts) = tallies.byGroup(groups)
      val perRow = first.perBucket * bucketsPerRow
      for {
        tally <- sets.indices.iterator
        group <- Iterator.range(0, groups)
        (from, until) = (
          starts(group),
          tallies.dropZeros(order, starts(group), starts(group + 1), tally))
        at <- Iterator.range(from, until, perRow)
      } yield made(
        group,
        sets(tally),
        PackedValues.pack(tallies, order, at, math.min(at + perRow, until), tally))
    }
  }
}

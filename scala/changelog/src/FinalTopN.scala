package io.firesteel.changelog

import io.firesteel.core.RowKind
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.StateStore

/**
 * Brings the rows of each partition up to date and tells what its Top-N gained and lost.
 *
 * Where rows only come (Flink: AppendFast) the state has the first rows alone, and a partition costs
 * as many accesses as it has places. Where rows are taken back (Flink: Retract) the state has all
 * rows, and a partition that changes is read whole: its next rows may be any of them.
 *
 * @param kindAt where a row tells its kind; -1 when rows only come
 * @param toOutput makes a row of the output of a row, its place and its kind
 */
final private[changelog] class FinalTopN(
    rows: Iterator[InternalRow],
    limit: Int,
    layout: TopNLayout,
    kindAt: Int,
    ranked: RankedRows,
    changes: PlaceChanges,
    toOutput: UnsafeProjection,
    store: StateStore,
    counts: StateCounts)
  extends FoldIterator(rows, limit) {

  private[this] val partitions = new java.util.LinkedHashMap[UnsafeRow, Tally.Map]()
  private[this] val made = new TopNRows(layout)
  private[this] val joined = new JoinedRow
  private[this] val extra = new GenericInternalRow(2)
  private[this] var entries = 0

  override protected def held: Int = entries

  override protected def fold(input: InternalRow): Unit = {
    val sign = if (kindAt >= 0 && RowKind.isRetraction(input.getByte(kindAt))) -1L else 1L
    val key = made.partitionOf(input)
    val known = partitions.get(key)
    val tallies =
      if (known != null) known
      else {
        val fresh = new Tally.Map()
        partitions.put(key.copy(), fresh)
        fresh
      }
    val before = tallies.size
    Tally.add(tallies, made.rowOf(input), sign)
    entries += tallies.size - before
  }

  override protected def drain(): Iterator[InternalRow] = {
    val all = partitions.entrySet.iterator
    val told = new Iterator[Iterator[InternalRow]] {
      override def hasNext: Boolean = all.hasNext
      override def next(): Iterator[InternalRow] = {
        val partition = all.next()
        settle(partition.getKey, partition.getValue).iterator.map(output)
      }
    }.flatten
    new Iterator[InternalRow] {
      override def hasNext: Boolean = told.hasNext || {
        partitions.clear()
        entries = 0
        false
      }
      override def next(): InternalRow = told.next()
    }
  }

  private def settle(partition: UnsafeRow, tallies: Tally.Map): Seq[PlaceChange] = {
    val sorted = load(partition, tallies)
    java.util.Arrays.sort(sorted, ranked.comparator)
    val before = ranked.placed(sorted, _.before)
    if (!layout.retracting) dropBeyond(sorted)
    val after = ranked.placed(sorted, _.after)
    sorted.foreach(save)
    changes.of(before, after)
  }

  /** All rows of the partition, as they were and as they are now. */
  private def load(partition: UnsafeRow, tallies: Tally.Map): Array[RankedRow] = {
    val found = Array.newBuilder[RankedRow]
    def add(row: UnsafeRow, count: Long): Unit = {
      val tally = tallies.remove(row)
      found += new RankedRow(row, count, count + (if (tally == null) 0L else tally.count))
    }
    if (layout.columns.isEmpty) {
      val stored = store.get(partition)
      if (stored != null) add(partition, stored.getLong(0))
    } else {
      val scan = store.prefixScan(partition)
      try {
        while (scan.hasNext) {
          val entry = scan.next()
          add(entry.key.copy(), entry.value.getLong(0))
        }
      } finally scan.close()
    }
    tallies.forEach((row, tally) => found += new RankedRow(row, 0L, tally.count))
    found.result()
  }

  private def dropBeyond(sorted: Array[RankedRow]): Unit = {
    val kept = ranked.keptAfter(sorted)
    sorted.foreach { row =>
      val tally = kept.get(row)
      row.after = if (tally == null) 0L else tally.count
    }
  }

  private def save(row: RankedRow): Unit =
    if (row.before != row.after) {
      if (row.after == 0L) {
        store.remove(row.row)
        counts.removed += 1
      } else {
        store.put(row.row, made.valueOf(row.after))
        counts.updated += 1
      }
    }

  private def output(change: PlaceChange): InternalRow = {
    extra.setInt(0, change.placed.place)
    extra.setByte(1, change.kind)
    toOutput(joined(change.placed.row, extra))
  }
}

package io.firesteel.changelog.topn

import io.firesteel.changelog.fold.FoldLimits
import io.firesteel.changelog.state.StateEntries
import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * A Top-N over an insert-only input (Flink: AppendFast), or over updates that only improve a row's
 * place (UpdateFast). The state has the first n rows; a partition costs as many accesses as it has
 * places.
 */
final private[topn] class FinalTopN(
    rows: Iterator[InternalRow],
    limits: FoldLimits,
    layout: TopNLayout,
    ranked: RankedRows,
    identity: RowIdentity,
    changes: PlaceChanges,
    output: PlacedOutput,
    entries: StateEntries)
  extends PartitionedFold(rows, limits, layout, kindAt = -1, identity, output) {

  private[this] val keepsRows = entries.keepsRows
  private[this] val places = layout.places

  override protected def settle(partition: UnsafeRow, pending: PendingRows): Seq[PlaceChange] = {
    val sorted = load(partition, pending)
    if (sorted.length > 1) java.util.Arrays.sort(sorted, ranked.comparator)
    if (places.areOfRows) settleRows(sorted) else settlePlaces(sorted)
  }

  /** The result has the rows themselves: those that come into it, and those that they push out. */
  private def settleRows(sorted: Array[RankedRow]): Seq[PlaceChange] = {
    var gone, come: List[PlaceChange] = Nil
    var numbered = 0L
    var i = 0
    while (i < sorted.length) {
      val row = sorted(i)
      row.after = math.min(row.after, places.to - numbered)
      numbered += row.after
      i += 1
    }
    i = 0
    while (i < sorted.length) {
      val row = sorted(i)
      var more = row.after - row.before
      while (more > 0) {
        come = PlaceChange(RowKind.Insert, PlacedRow(row.row, 0)) :: come
        more -= 1
      }
      while (more < 0) {
        gone = PlaceChange(RowKind.Delete, PlacedRow(row.row, 0)) :: gone
        more += 1
      }
      i += 1
    }
    save(sorted)
    gone reverse_::: come.reverse
  }

  private def settlePlaces(sorted: Array[RankedRow]): Seq[PlaceChange] = {
    val before = ranked.placed(sorted, _.before)
    dropBeyond(sorted)
    val after = ranked.placed(sorted, _.after)
    save(sorted)
    changes.of(before, after)
  }

  /** The partition's rows, before and after the micro-batch. */
  private def load(partition: UnsafeRow, pending: PendingRows): Array[RankedRow] = {
    val found = Array.newBuilder[RankedRow]
    if (layout.columns.isEmpty) {
      val stored = entries.get(partition)
      if (stored != null) found += pending.of(partition, stored.getLong(0))
    } else {
      entries.scan(partition) { (key, value) =>
        found += pending.of(if (keepsRows) key else key.copy(), value.getLong(0))
      }
    }
    found ++= pending.others
    found.result()
  }

  private def dropBeyond(sorted: Array[RankedRow]): Unit = {
    val kept = ranked.keptAfter(sorted)
    sorted.foreach { row =>
      val tally = kept.get(row)
      row.after = if (tally == null) 0L else tally.count
    }
  }

  /**
   * With a time to live the rows of a partition expire together, if none of them has changed: the
   * places that were told are those among all of them.
   */
  private def save(rows: Array[RankedRow]): Unit = {
    val refreshes = entries.expires && rows.exists(row => row.before != row.after)
    rows.foreach { row =>
      if (row.after == 0L) {
        if (row.before != 0L) entries.remove(row.row)
      } else if (refreshes || row.before != row.after)
        entries.put(row.row, made.valueOf(row.after))
    }
  }
}

package io.firesteel.changelog.join

import io.firesteel.changelog.plan.{JoinedSide, TimeBound}
import io.firesteel.changelog.state.StateEntries

import java.util.LinkedHashSet

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.types.StructType

/**
 * Takes rows out of the state of an interval join when the watermark says that no match of theirs
 * is still to come. As in Spark's own join the whole store is read. Most keys have one entry, of which
 * all rows go or none: such an entry is removed as it is found. Memory: the keys of the rows that go.
 *
 * @param change for each side whether its rows may be deleted
 * @param watermark in microseconds
 */
final private[join] class EvictRows(
    entries: StateEntries,
    spec: JoinSpec,
    change: Seq[Boolean],
    watermark: Long) {

  private[this] val packed = new PackedEntries(entries, spec)
  private[this] val state = new PackedState(entries, spec)
  private[this] val sides = Seq(spec.left, spec.right)
  private[this] val rows = new PackedRows

  /** For each side whether a row of a key goes; none if its rows stay. */
  private[this] val areOver = sides.zip(change).map { case (side, changes) =>
    for (bound <- side.bound; closes <- bound.closes) yield isOver(side, bound, closes, changes)
  }

  def run(): Unit = if (areOver.exists(_.nonEmpty)) {
    val whole = Seq.newBuilder[UnsafeRow]
    val keys = new LinkedHashSet[UnsafeRow]
    entries.all.foreach { entry =>
      val key = packed.joinKeyOf(entry.key)
      val (all, over) = count(key, entry.value)
      if (over > 0)
        if (over == all && packed.isAllOf(entry)) whole += entry.key.copy()
        else if (!keys.contains(key)) {
          val _ = keys.add(key.copy())
        }
    }
    whole.result().foreach(entries.remove(_))
    keys.forEach { key =>
      state.evict(key, areOver.map(_.fold((_: UnsafeRow) => false)(isOver => isOver(key, _))))
    }
  }

  /** The number of rows in an entry, and of those that go. */
  private def count(key: UnsafeRow, entry: UnsafeRow): (Int, Int) = {
    var (all, over, side) = (0, 0, 0)
    while (side < 2) {
      rows.clear()
      packed.read(entry, side, rows)
      all += rows.size
      areOver(side).foreach(isOver => over += rows.count(isOver(key, _)))
      side += 1
    }
    (all, over)
  }

  /** A row without a time matches nothing. It stays if it may be deleted: no watermark closes it. */
  private def isOver(
      side: JoinedSide,
      bound: TimeBound,
      closes: Long,
      changes: Boolean): (UnsafeRow, UnsafeRow) => Boolean = {
    def at(columns: Seq[Attribute]) =
      columns.indexWhere(_.exprId == bound.time.exprId)
    val (inKey, inRow) = (at(side.keys), at(side.stored))
    val isWindow = bound.time.dataType.isInstanceOf[StructType]
    val last = watermark - closes
    (key, stored) => {
      val (row, i) = if (inKey >= 0) (key, inKey) else (stored, inRow)
      if (row.isNullAt(i)) !changes
      else (if (isWindow) row.getStruct(i, 2).getLong(1) else row.getLong(i)) <= last
    }
  }
}

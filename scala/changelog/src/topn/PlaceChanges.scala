package io.firesteel.changelog.topn

import io.firesteel.changelog.plan.Places
import io.firesteel.core.changes.RowKind

import scala.collection.mutable.ArrayBuffer

/** A change of a row at a place. */
final private[topn] case class PlaceChange(kind: Byte, placed: PlacedRow)

/**
 * The changes to emit if the rows of a partition of a Top-N have changed.
 *
 * By place, the row of each place is replaced by its new row. Otherwise retractions come first and
 * inserts after them, so a row that stays under another key is never in the result twice.
 */
final private[topn] class PlaceChanges(
    places: Places,
    updateBefore: Boolean,
    rows: RankedRows) {

  def of(before: Array[PlacedRow], after: Array[PlacedRow]): Seq[PlaceChange] =
    if (places.byPlace) byPlace(before, after) else byRow(before, after)

  private def byPlace(before: Array[PlacedRow], after: Array[PlacedRow]): Seq[PlaceChange] = {
    val changes = ArrayBuffer.empty[PlaceChange]
    (0 until math.max(before.length, after.length)).foreach { i =>
      if (i >= before.length) changes += PlaceChange(RowKind.Insert, after(i))
      else if (i >= after.length) changes += PlaceChange(RowKind.Delete, before(i))
      else if (before(i).row != after(i).row) {
        if (updateBefore) changes += PlaceChange(RowKind.UpdateBefore, before(i))
        changes += PlaceChange(RowKind.UpdateAfter, after(i))
      }
    }
    changes.toSeq
  }

  /** Both arrays have the same order, so one pass finds the rows that only one of them has. */
  private def byRow(before: Array[PlacedRow], after: Array[PlacedRow]): Seq[PlaceChange] = {
    val (gone, come) = (ArrayBuffer.empty[PlaceChange], ArrayBuffer.empty[PlaceChange])
    var (i, j) = (0, 0)
    while (i < before.length || j < after.length) {
      val order = compare(before, i, after, j)
      if (order < 0) gone += PlaceChange(RowKind.Delete, before(i))
      if (order > 0) come += PlaceChange(RowKind.Insert, after(j))
      if (order <= 0) i += 1
      if (order >= 0) j += 1
    }
    (gone ++ come).toSeq
  }

  private def compare(
      before: Array[PlacedRow],
      i: Int,
      after: Array[PlacedRow],
      j: Int): Int =
    if (i >= before.length) 1
    else if (j >= after.length) -1
    else {
      val order = rows.compare(before(i).row, after(j).row)
      if (order != 0 || !places.shown) order
      else before(i).place.compare(after(j).place)
    }
}

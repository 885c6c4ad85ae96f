package io.firesteel.changelog.topn

import io.firesteel.changelog.fold.Tally
import io.firesteel.changelog.plan.{PlaceFunction, Places}

import java.util.{Arrays, Comparator}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{SortOrder, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.codegen.LazilyGeneratedOrdering

/** A row and its number of copies, before and after a micro-batch. */
final private[topn] class RankedRow(val row: UnsafeRow, var before: Long, var after: Long)

/** A row at a place of the order. */
final private[topn] case class PlacedRow(row: UnsafeRow, place: Int)

/**
 * Orders the rows of a partition and finds the rows at the requested places.
 *
 * Ties are ordered by the bytes of the rows: their order then depends on the state only, and is the
 * same before and after a restart. If rows have versions, ties are ordered by the bytes of their
 * keys first: a newer version that does not lose its place in the query's order does not lose it in
 * this one.
 */
final private[changelog] class RankedRows(
    order: Seq[SortOrder],
    places: Places,
    identity: RowIdentity) {

  private[this] val ordering = new LazilyGeneratedOrdering(order)

  /** The total order: only equal rows compare as equal. */
  val comparator: Comparator[RankedRow] = (a, b) => compare(a.row, b.row)

  def compare(a: UnsafeRow, b: UnsafeRow): Int = {
    val byOrder = ordering.compare(a, b)
    if (byOrder != 0) byOrder
    else {
      val byKey = identity.compare(a, b)
      if (byKey != 0) byKey else Arrays.compareUnsigned(a.getBytes, b.getBytes)
    }
  }

  /** Whether a row comes after another in the query's order. */
  def comesAfter(row: UnsafeRow, other: UnsafeRow): Boolean = ordering.compare(row, other) > 0

  /** Whether a row is beyond the last place, if `last` is the last row with a place. */
  def isBeyond(row: UnsafeRow, last: UnsafeRow): Boolean =
    if (places.function == PlaceFunction.RowNumber) compare(row, last) >= 0
    else comesAfter(row, last)

  /** Whether any number of rows may have one place. */
  def sharesPlaces: Boolean = places.function != PlaceFunction.RowNumber

  /** The number of different rows that fill all places, and `more` rows; with ties, unbounded. */
  def mostRows(more: Int): Int =
    if (places.function != PlaceFunction.RowNumber) Int.MaxValue
    else math.min(places.to + 1L + more, Int.MaxValue.toLong).toInt

  /** The rows at the requested places, in order; `count` is the number of copies of a row. */
  def placed(sorted: Array[RankedRow], count: RankedRow => Long): Array[PlacedRow] = {
    val found = Array.newBuilder[PlacedRow]
    val _ = walk(sorted, count) { (row, place) =>
      if (place >= places.from) found += PlacedRow(row.row, place.toInt)
    }
    found.result()
  }

  /**
   * The number of rows, in order and each once, whose place is not beyond the last.
   *
   * @param row the row at an index
   */
  def within(size: Int, row: Int => UnsafeRow): Int =
    if (places.function == PlaceFunction.RowNumber)
      math.max(0L, math.min(places.to, size.toLong)).toInt
    else {
      var (i, distinct) = (0, 0L)
      var beyond = false
      while (i < size && !beyond) {
        if (i == 0 || ordering.compare(row(i - 1), row(i)) != 0) {
          distinct += 1
          // The rank of a row is one more than the number of rows before its ties.
          beyond = (if (places.function == PlaceFunction.Rank) i + 1L else distinct) > places.to
        }
        if (!beyond) i += 1
      }
      i
    }

  /** The number of copies of each row of `sorted` whose place is not beyond the last. */
  def keptAfter(sorted: Array[RankedRow]): java.util.IdentityHashMap[RankedRow, Tally] = {
    val kept = new java.util.IdentityHashMap[RankedRow, Tally]()
    val _ = walk(sorted, _.after) { (row, _) =>
      kept.computeIfAbsent(row, _ => new Tally(0L)).count += 1
    }
    kept
  }

  /**
   * The number of `sorted` rows that determine all places: the rows up to and including the first
   * one beyond the last place; -1 if there is none.
   */
  def needed(sorted: Array[RankedRow]): Int = walk(sorted, _.after)((_, _) => ())

  /** Visits each copy of each row up to the last requested place; see [[needed]]. */
  private def walk(sorted: Array[RankedRow], count: RankedRow => Long)(
      visit: (RankedRow, Long) => Unit): Int = {
    var (i, numbered, rank, dense) = (0, 0L, 0L, 0L)
    var last: InternalRow = null
    var beyond = false
    while (i < sorted.length && !beyond) {
      val row = sorted(i)
      var copies = count(row)
      if (copies > 0 && (last == null || ordering.compare(last, row.row) != 0)) {
        rank = numbered + 1
        dense += 1
        last = row.row
      }
      while (copies > 0 && !beyond) {
        numbered += 1
        val place = places.function match {
          case PlaceFunction.RowNumber => numbered
          case PlaceFunction.Rank => rank
          case PlaceFunction.DenseRank => dense
        }
        beyond = place > places.to
        if (!beyond) visit(row, place)
        copies -= 1
      }
      i += 1
    }
    if (beyond) i else -1
  }
}

package io.firesteel.changelog.topn

import io.firesteel.changelog.plan.{PlaceFunction, Places}
import io.firesteel.core.changes.RowKind

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, BoundReference, Expression, SortOrder, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType}
import org.scalatest.funsuite.AnyFunSuite

/** What is emitted of a partition whose rows at the places change, and what is pending. */
class PlaceChangesSuite extends AnyFunSuite {

  private val toRow = UnsafeProjection.create(Array[DataType](LongType, LongType))

  private def row(order: Long, id: Long): UnsafeRow = toRow(InternalRow(order, id)).copy()
  private def column(at: Int): Expression = BoundReference(at, LongType, nullable = false)

  private def changes(places: Places, updateBefore: Boolean): PlaceChanges =
    new PlaceChanges(
      places,
      updateBefore,
      new RankedRows(Seq(SortOrder(column(0), Ascending)), places, RowIdentity.of(Nil)))

  private def told(all: Seq[PlaceChange]): Seq[String] = all.map { change =>
    s"${RowKind.names(change.kind.toInt)}${change.placed.row.getLong(1)}@${change.placed.place}"
  }

  private def placed(ids: Long*): Array[PlacedRow] =
    ids.zipWithIndex.map { case (id, i) => PlacedRow(row(id, id), i + 1) }.toArray

  test("by place, a place's row is replaced by the next") {
    val of = changes(Places(PlaceFunction.RowNumber, 1, 3, shown = true), updateBefore = true)
    assert(told(of.of(placed(1, 3), placed(1, 2, 3))) == Seq("-U3@2", "+U2@2", "+I3@3"))
    assert(told(of.of(placed(1, 2, 3), placed(2, 3))) ==
      Seq("-U1@1", "+U2@1", "-U2@2", "+U3@2", "-D3@3"))
    assert(of.of(placed(1, 2), placed(1, 2)).isEmpty)
  }

  test("by place without update-before rows, only what is there now") {
    val of = changes(Places(PlaceFunction.RowNumber, 1, 3, shown = true), updateBefore = false)
    assert(told(of.of(placed(1, 3), placed(2))) == Seq("+U2@1", "-D3@2"))
  }

  test("by row, those that went come before those that came") {
    val of = changes(Places(PlaceFunction.RowNumber, 1, 3, shown = false), updateBefore = true)
    assert(told(of.of(placed(2, 4, 6), placed(1, 4, 5))) == Seq("-D2@1", "-D6@3", "+I1@1", "+I5@3"))
  }

  test("by row with its rank, a row whose rank is another goes and comes") {
    val of = changes(Places(PlaceFunction.Rank, 1, 3, shown = true), updateBefore = true)
    assert(told(of.of(placed(2, 4), placed(1, 2))) == Seq("-D2@1", "-D4@2", "+I1@1", "+I2@2"))
  }

  test("by row, copies of a row are counted, on random rows") {
    val of = changes(Places(PlaceFunction.RowNumber, 1, 9, shown = false), updateBefore = true)
    val random = new Random(5)
    (1 to 500).foreach { _ =>
      def some = Seq.fill(random.nextInt(8))(random.nextInt(4).toLong).sorted
      val (before, after) = (some, some)
      val all = told(of.of(placed(before: _*), placed(after: _*))).map(_.takeWhile(_ != '@'))
      val expected =
        before.diff(after).map(id => s"-D$id") ++ after.diff(before).map(id => s"+I$id")
      assert(all == expected)
    }
  }

  test("pending rows without versions are tallies, of which those in the state take their part") {
    val pending = PendingRows.of(RowIdentity.of(Nil))
    Seq(1L -> 1L, 1L -> 1L, 2L -> -1L, 3L -> 1L, 3L -> -1L).foreach { case (id, sign) =>
      pending.add(toRow(InternalRow(id, id)), sign)
    }
    assert(pending.size == 3)
    val stored = pending.of(row(1, 1), 4)
    assert((stored.before, stored.after) == ((4L, 6L)))
    val untouched = pending.of(row(9, 9), 2)
    assert((untouched.before, untouched.after) == ((2L, 2L)))
    assert(pending.others.map(r => (r.row.getLong(1), r.before, r.after)) ==
      Seq((2L, 0L, -1L), (3L, 0L, 0L)))
  }

  test(
    "pending rows with versions are the newest of each key, which takes the stored one's place") {
    val pending = PendingRows.of(RowIdentity.of(Seq(column(1))))
    Seq(5L -> 1L, 4L -> 1L, 7L -> 2L, 8L -> 3L).foreach { case (order, id) =>
      pending.add(toRow(InternalRow(order, id)), 1L)
    }
    assert(pending.size == 3)
    def of(order: Long, id: Long) = {
      val its = pending.of(row(order, id), 1)
      (its.before, its.after)
    }
    assert(of(6, 1) == ((1L, 0L)) && of(7, 2) == ((1L, 1L)) && of(9, 9) == ((1L, 1L)))
    assert(pending.others.map(r => (r.row.getLong(0), r.row.getLong(1), r.after)) ==
      Seq((4L, 1L, 1L), (8L, 3L, 1L)))
  }
}

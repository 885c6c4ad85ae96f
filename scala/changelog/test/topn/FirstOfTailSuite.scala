package io.firesteel.changelog.topn

import io.firesteel.changelog.plan.{PlaceFunction, Places}

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, BoundReference, Expression, Literal, SortOrder, UnsafeProjection}
import org.apache.spark.sql.types.{DataType, LongType}
import org.scalatest.funsuite.AnyFunSuite

/** The first rows of a tail: a beginning of it, and enough. */
class FirstOfTailSuite extends AnyFunSuite {

  private val toRow = UnsafeProjection.create(Array[DataType](LongType))

  private def ranked(function: PlaceFunction, to: Long) = new RankedRows(
    Seq(SortOrder(BoundReference(0, LongType, nullable = false): Expression, Ascending)),
    Places(function, 1, to, shown = false),
    RowIdentity.of(Nil))

  /** Values and counts in order, as they are kept of rows that come in any order. */
  private def kept(of: RankedRows, rows: Seq[(Long, Long)]): (Seq[(Long, Long)], Boolean) = {
    val first = new FirstOfTail(of)
    rows.foreach { case (v, count) => first.offer(toRow(InternalRow(v)), count) }
    (first.sorted.map(r => (r.row.getLong(0), r.after)).toSeq, first.isAll)
  }

  test("rows in any order, some of which went before they came") {
    val random = new Random(20261123L)
    (0 until 300).foreach { _ =>
      val size = random.nextInt(200)
      val rows =
        (0 until size).map(v => (v.toLong, (random.nextInt(5) - 1).toLong)).filter(_._2 != 0)
      val to = 1L + random.nextInt(20)
      val (found, isAll) = kept(ranked(PlaceFunction.RowNumber, to), random.shuffle(rows))
      assert(found == rows.take(found.size), "a beginning of the tail")
      assert(isAll == (found.size == rows.size))
      assert(isAll || found.count(_._2 > 0) == to + 1 + Head.spare, "and enough of it")
    }
  }

  test("of places that rows share, few are kept of many") {
    val rows = (0L until 5000L).map(v => v -> (v % 3))
    Seq(PlaceFunction.Rank, PlaceFunction.DenseRank).foreach { function =>
      val (found, isAll) = kept(ranked(function, 2), Random.shuffle(rows))
      assert(found == rows.take(found.size) && !isAll)
      assert(found.size > 2 + Head.spare && found.size < 1100)
      assert(kept(ranked(function, 9000), rows) == ((rows, true)))
    }
  }

  test("all rows that tie for a place are kept") {
    val ties = new RankedRows(
      Seq(SortOrder(Literal(1), Ascending)),
      Places(PlaceFunction.Rank, 1, 2, shown = false),
      RowIdentity.of(Nil))
    assert(kept(ties, (0L until 3000L).map(_ -> 1L))._1.size == 3000)
  }
}

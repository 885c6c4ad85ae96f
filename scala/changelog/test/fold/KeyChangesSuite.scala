package io.firesteel.changelog.fold

import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, BoundReference, SortOrder, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, IntegerType, LongType}
import org.scalatest.funsuite.AnyFunSuite

/** One key's changes, each a row and its sequence: every order of up to four of them. */
class KeyChangesSuite extends AnyFunSuite {

  private val toRow = UnsafeProjection.create(Array[DataType](IntegerType, LongType))
  private val order =
    new ArrivalOrder(Seq(SortOrder(BoundReference(1, LongType, nullable = true), Ascending)))

  private case class Change(value: Int, sequence: Long, kind: Byte) {
    def row: UnsafeRow = toRow(InternalRow(value, sequence)).copy()
  }

  private val changes = for {
    kind <- Seq(RowKind.Insert, RowKind.UpdateBefore, RowKind.Delete)
    value <- Seq(1, 2)
    sequence <- Seq(5L, 6L)
  } yield Change(value, sequence, kind)

  private def all(length: Int): Iterator[Seq[Change]] =
    if (length == 0) Iterator(Nil) else all(length - 1).flatMap(c => changes.iterator.map(c :+ _))

  /** The rule, in words: the newest is there unless it is a deletion, or was replaced after it came. */
  private def answer(told: Seq[Change]): Option[Int] = {
    val newest = told.map(_.sequence).max
    val rows = told.zipWithIndex.filter(_._1.sequence == newest)
    rows.filter(_._1.kind != RowKind.UpdateBefore).lastOption.collect {
      case (last, at) if last.kind == RowKind.Insert && !rows.exists { case (c, i) =>
            i > at && c.kind == RowKind.UpdateBefore && c.value == last.value
          } => last.value
    }
  }

  private def found(its: KeyChanges): Option[Int] =
    if (its.isDeletion) None else Some(its.newest.getInt(0))

  private def of(told: Seq[(Change, Int)]): KeyChanges = {
    val its = new KeyChanges(order)
    told.foreach { case (c, at) => its.offer(c.row, c.kind, at.toLong) }
    its
  }

  test("the newest change is found in whichever order they are given, and from whatever parts") {
    all(4).foreach { told =>
      val (placed, wanted) = (told.zipWithIndex, answer(told))
      assert(found(of(placed)) == wanted, told)
      assert(found(of(placed.reverse)) == wanted, told)
      (1 to 3).foreach { at =>
        val (first, second) = (of(placed.take(at)), of(placed.drop(at)))
        second.merge(first)
        assert(found(second) == wanted, told)
      }
      // From one place they are given in their order.
      assert(found(of(told.map(_ -> 0))) == wanted, told)
    }
  }
}

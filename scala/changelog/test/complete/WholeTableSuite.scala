package io.firesteel.changelog.complete

import io.firesteel.changelog.RandomRows
import io.firesteel.changelog.fold.Granted
import io.firesteel.changelog.state.{FoldedChanges, RowsOperator, StateLayout, StatefulTask}
import io.firesteel.changelog.state.RowsOperator.row

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection}
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

/** Complete mode's table, against a bag of rows. */
class WholeTableSuite extends AnyFunSuite {

  private val schema = StructType.fromDDL("s STRING, d DOUBLE, a ARRAY<BIGINT>")
  private val kinds = StructType.fromDDL("kind TINYINT")
  private val layout = StateLayout("table", schema, StructType.fromDDL("count BIGINT"), prefix = 0)

  private def operator(limit: Int, retracting: Boolean = true, ttlMs: Long = 0L): RowsOperator = {
    val columns = schema.zipWithIndex.map { case (field, i) =>
      BoundReference(i, field.dataType, nullable = true)
    }
    val task = StatefulTask.ofOne { (entries, _, rows) =>
      new WholeTable(
        rows,
        Granted.entries(limit),
        UnsafeProjection.create(columns),
        if (retracting) schema.size else -1,
        entries)
    }
    val input = if (retracting) StructType(schema ++ kinds) else schema
    new RowsOperator(layout, task, Seq(input), schema, ttlMs)
  }

  private def someRow(random: Random): Seq[Any] = random.nextInt(6) match {
    case 0 => Seq(null, null, null)
    case 1 => Seq("", Double.NaN, Seq.empty)
    case 2 => Seq("long " * 50, Double.PositiveInfinity, row(1L, null))
    case n => Seq(s"s$n", random.nextInt(3) / 2.0, Seq(n.toLong))
  }

  Seq(1, 3, Int.MaxValue).foreach { limit =>
    test(s"all rows are given each time, as often as they are there, entries at once: $limit") {
      val (op, rows) = (operator(limit), new RandomRows(new Random(23), someRow, gone = 4))
      (1 to 30).foreach { batch =>
        val table = op.run(rows.shuffled(15)).map(_._1)
        assert(FoldedChanges.bag(table) == FoldedChanges.bag(rows.live), batch)
      }
      assert(op.run(Nil).size == rows.live.size, "also when nothing comes")
      assert(op.run(rows.live.toSeq.map(_ -> "-D")).isEmpty && op.store.size == 0)
    }
  }

  test("rows that only come") {
    val (op, rows) =
      (
        operator(Int.MaxValue, retracting = false),
        new RandomRows(new Random(24), someRow, gone = 0))
    (1 to 5).foreach { _ =>
      val table = op.run(rows.batch(15)).map(_._1)
      assert(FoldedChanges.bag(table) == FoldedChanges.bag(rows.live))
    }
  }

  test("a debt is no row, and the next such row settles it") {
    val (op, its) = (operator(9), row("a", 1.5, Seq.empty))
    assert(op.run(Seq(its -> "-D")).isEmpty && op.run(Seq(its -> "+I")).isEmpty)
    assert(op.store.size == 0 && op.run(Seq(its -> "+I")).map(_._1) == Seq(its))
  }

  test("rows that have expired are not given") {
    val op = operator(9, ttlMs = 10L)
    op.run(Seq(row("a", 1.0, null) -> "+I", row("b", 1.0, null) -> "+I"))
    op.nowMs = 9L
    assert(op.run(Seq(row("b", 1.0, null) -> "+I")).size == 3)
    op.nowMs = 11L
    assert(op.run(Nil).map(_._1) == Seq.fill(2)(row("b", 1.0, null)))
  }
}

package io.firesteel.changelog.aggregate

import io.firesteel.changelog.RandomRows
import io.firesteel.changelog.plan.AnyAggregate
import io.firesteel.changelog.state.{FoldedChanges, RowsOperator}
import io.firesteel.changelog.state.RowsOperator.row
import io.firesteel.testkit.TimedSuite

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{CollectList, Count, Max, Min, Sum}
import org.apache.spark.sql.types.{LongType, StringType, StructType}

/** Sets of values that grow over many entries of the store, and shrink, against sets. */
class ValueSetsSuite extends TimedSuite {

  private val keys = StructType.fromDDL("k INT")
  private val arguments = StructType.fromDDL("v BIGINT, s STRING")
  private val v = BoundReference(0, LongType, nullable = true)
  private val s = BoundReference(1, StringType, nullable = true)

  private val functions: Seq[(Expression, Boolean)] = Seq(
    Count(Seq(v)) -> true,
    Sum(v) -> true,
    Count(Seq(s)) -> true,
    Min(v) -> false,
    Max(v) -> false,
    Min(s) -> false,
    Max(s) -> false)

  private def operator(limits: (Int, Int)): RowsOperator =
    RowsAggregate.of(keys, arguments, functions, limits = limits)

  private def expected(live: Seq[Seq[Any]]): Seq[Seq[Any]] =
    live.groupBy(_.head).map { case (k, rows) =>
      val longs = rows.map(_(1).asInstanceOf[Long]).distinct
      val texts = rows.map(_(2).asInstanceOf[String]).distinct
      Seq(
        k,
        longs.size.toLong,
        longs.sum,
        texts.size.toLong,
        longs.min,
        longs.max,
        texts.min,
        texts.max)
    }.toSeq

  private def someRow(values: Int)(random: Random): Seq[Any] = {
    val (n, t) = (random.nextInt(values).toLong, random.nextInt(values / 4))
    Seq(random.nextInt(2), n - values / 2, "text" * (t % 9) + t)
  }

  private def check(op: RowsOperator, rows: RandomRows, folded: FoldedChanges, size: Int): Unit = {
    val table = folded.add(op.run(rows.shuffled(size)))
    val _ = assert(FoldedChanges.bag(table) == FoldedChanges.bag(expected(rows.live.toSeq)))
  }

  Seq((Int.MaxValue, Int.MaxValue), (100, 7)).foreach { limits =>
    test(s"thousands of values of a group, growing and shrinking, entries at once: $limits") {
      val (op, random, folded) = (operator(limits), new Random(11), new FoldedChanges)
      val rows = new RandomRows(random, someRow(4000), gone = 2)
      (1 to 8).foreach(_ => check(op, rows, folded, size = 900))
      assert(op.store.size > 20, "values lie in many entries")
      val gone = random.shuffle(rows.live.toSeq)
      gone.grouped(gone.size / 5 + 1).foreach { some =>
        some.foreach(rows.live -= _)
        val table = folded.add(op.run(some.map(_ -> "-D")))
        assert(FoldedChanges.bag(table) == FoldedChanges.bag(expected(rows.live.toSeq)))
      }
      assert(op.store.size == 0)
    }
  }

  test("a change of one value reads and writes the group and one entry of each set") {
    val op = operator((Int.MaxValue, Int.MaxValue))
    op.run((0 until 5000).map(i => row(1, i.toLong, s"s$i") -> "+I"))
    val before = op.metrics.updated.value + op.metrics.removed.value
    op.run(Seq(row(1, 77L, "s77") -> "-D"))
    assert(op.metrics.updated.value + op.metrics.removed.value - before == 3)
  }

  test("a value with many rows stays until the last of them has gone") {
    val op = operator((Int.MaxValue, Int.MaxValue))
    op.run(Seq.fill(3)(row(1, 5L, "x") -> "+I") :+ (row(1, 9L, "y") -> "+I"))
    val both = row(1, 2L, 14L, 2L, 5L, 9L, "x", "y")
    assert(op.run(Seq.fill(2)(row(1, 5L, "x") -> "-D")).isEmpty)
    assert(op.run(Seq(row(1, 5L, "x") -> "-D")) ==
      Seq(both -> "-U", row(1, 1L, 9L, 1L, 9L, 9L, "y", "y") -> "+U"))
  }

  test("a function of which nothing is known is computed anew over the rows that are left") {
    val list = AnyAggregate(CollectList(v), None)
    val op = RowsAggregate.of(keys, arguments, Seq(list -> false))
    def sorted(changes: Seq[RowsOperator.Change]) = changes.map { case (row, kind) =>
      (row(1).asInstanceOf[Iterable[Long]].toSeq.sorted, kind)
    }
    val rows = Seq(3L, 3L, 1L).map(n => Seq[Any](1, n, "x"))
    assert(sorted(op.run(rows.map(_ -> "+I"))) == Seq(Seq(1L, 3L, 3L) -> "+I"))
    assert(sorted(op.run(Seq(rows.head -> "-D"))) ==
      Seq(Seq(1L, 3L, 3L) -> "-U", Seq(1L, 3L) -> "+U"))
    assert(sorted(op.run(rows.tail.map(_ -> "-D"))) == Seq(Seq(1L, 3L) -> "-D"))
    assert(op.store.size == 0)
  }

  test("where entries expire, of a group of which more goes than is known nothing is left") {
    val op = RowsAggregate.of(keys, arguments, functions, ttlMs = 10L)
    op.run(Seq(row(1, 5L, "x") -> "+I", row(2, 6L, "y") -> "+I"))
    op.nowMs = 11L
    assert(op.run(Seq(row(1, 5L, "x") -> "-D")).isEmpty && op.metrics.late.value > 0)
    assert(op.run(Seq(row(2, 7L, "z") -> "+I")) ==
      Seq(row(2, 1L, 7L, 1L, 7L, 7L, "z", "z") -> "+I"))
    val other = RowsAggregate.of(keys, arguments, functions, ttlMs = 10L)
    other.run(Seq(row(1, 5L, "x") -> "+I", row(1, 7L, "y") -> "+I"))
    assert(other.run(Seq.fill(3)(row(1, 9L, "z") -> "-D")) ==
      Seq(row(1, 2L, 12L, 2L, 5L, 7L, "x", "y") -> "-D"))
    assert(other.store.size == 0, "its values go with it")
  }
}

package io.firesteel.changelog.normalize

import io.firesteel.changelog.fold.{ArrivalOrder, Granted}
import io.firesteel.changelog.state.{FoldedChanges, RowsOperator, StateLayout, StatefulTask}
import io.firesteel.changelog.state.RowsOperator.{Change, row}
import io.firesteel.testkit.TimedSuite

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Literal, UnsafeProjection}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.{BooleanType, ByteType, LongType, StringType, StructType}

/** Each key's newest row, against a map. */
class NormalizedRowsSuite extends TimedSuite {

  private val input = StructType.fromDDL("k STRING, v BIGINT, q BIGINT, kind TINYINT")
  private val (k, v) = (AttributeReference("k", StringType)(), AttributeReference("v", LongType)())
  private val (q, kind) =
    (AttributeReference("q", LongType)(), AttributeReference("kind", ByteType)())
  private val columns = Seq(v, q)
  private val deleted = StateLayout.field("n", "deleted", BooleanType)
  private val layout = StateLayout(
    "n",
    StructType(input.take(1)),
    StructType(input.slice(1, 3) :+ deleted),
    prefix = 0)

  /** Both halves, over rows of one partition of the input. */
  final private class Normalized(
      sequenced: Boolean,
      val updateBefore: Boolean = true,
      limits: (Int, Int) = (Int.MaxValue, Int.MaxValue),
      ttlMs: Long = 0L) {
    val late = new SQLMetric("sum")
    private val sequence = if (sequenced) Seq(q) else Nil
    private val in = k +: columns :+ kind

    private val task = StatefulTask.ofOne { (entries, _, rows) =>
      val newest = new NewestRows(
        rows,
        Granted.entries(limits._1),
        UnsafeProjection.create(Seq(k), in),
        new ArrivalOrder(NormalizeExecs.order(sequence, in)),
        UnsafeProjection.create(in :+ Literal(0), in)
      )
      new FinalNormalize(
        newest,
        Granted.entries(limits._2),
        keys = 1,
        columns = columns.size,
        toKey = UnsafeProjection.create(Seq(k), in),
        toValue = UnsafeProjection.create(columns :+ Literal(false), in),
        toOutput = UnsafeProjection.create(
          (k +: columns) :+ Literal(0.toByte, ByteType),
          k +: columns),
        new ArrivalOrder(NormalizeExecs.order(sequence, columns)),
        updateBefore,
        entries,
        late
      )
    }
    val op = new RowsOperator(layout, task, Seq(input), input, ttlMs)
    private val folded = new FoldedChanges(Option.when(!updateBefore)(_.take(1)))

    def add(rows: Seq[Change]): Seq[Seq[Any]] = folded.add(op.run(rows))
  }

  private val manyLimits = Seq((Int.MaxValue, Int.MaxValue), (1, Int.MaxValue), (1, 1), (4, 2))

  private def key(random: Random): Any =
    if (random.nextInt(9) == 0) null else "k" * random.nextInt(6)

  private def value(random: Random): Any =
    if (random.nextInt(9) == 0) null else random.nextInt(4).toLong

  test("without a sequence, of a key's rows the last one counts") {
    for (limits <- manyLimits; before <- Seq(true, false)) {
      val (random, of) = (new Random(17), new Normalized(false, before, limits))
      var truth = Map.empty[Any, Seq[Any]]
      (1 to 40).foreach { batch =>
        val told = Seq.fill(random.nextInt(20)) {
          val its = row(key(random), value(random), null)
          random.nextInt(5) match {
            case 0 =>
              truth -= its.head
              Seq(row(its.head, null, null) -> "-D")
            case 1 =>
              truth += its.head -> its
              Seq(row(its.head, value(random), null) -> "-U", its -> "+U")
            case n =>
              truth += its.head -> its
              Seq(its -> (if (n == 2) "+I" else "+U"))
          }
        }.flatten
        assert(FoldedChanges.bag(of.add(told)) == FoldedChanges.bag(truth.values), batch)
      }
      assert(of.op.store.size == truth.size, "keys that went leave the store")
    }
  }

  test("with a sequence the greatest counts, whenever it comes, and deletions are remembered") {
    for (limits <- manyLimits; before <- Seq(true, false)) {
      val (random, made) = (new Random(19), new Normalized(true, before, limits))
      val sequences = random.shuffle((1L to 1000L).toList).iterator
      var newest = Map.empty[Any, (Long, Option[Seq[Any]])]
      (1 to 40).foreach { batch =>
        val told = Seq.fill(random.nextInt(20)) {
          val (of, at, goes) = (key(random), sequences.next(), random.nextInt(4) == 0)
          val its = row(of, value(random), at)
          if (newest.get(of).forall(_._1 < at)) newest += of -> ((at, Option.when(!goes)(its)))
          its -> (if (goes) "-D" else "+U")
        }
        val truth = newest.values.flatMap(_._2)
        assert(FoldedChanges.bag(made.add(told)) == FoldedChanges.bag(truth), batch)
      }
      assert(made.late.value > 0 && made.op.store.size == newest.size)
    }
  }

  test("a row without a sequence is older than any, and the same row again is nothing") {
    val of = new Normalized(sequenced = true)
    assert(of.op.run(Seq(row("a", 1L, null) -> "+I")) == Seq(row("a", 1L, null) -> "+I"))
    assert(of.op.run(Seq(row("a", 2L, 5L) -> "+I")) ==
      Seq(row("a", 1L, null) -> "-U", row("a", 2L, 5L) -> "+U"))
    assert(of.op.run(Seq(row("a", null, null) -> "-D")).isEmpty && of.late.value == 1)
    assert(of.op.run(Seq(row("a", 2L, 5L) -> "+U")).isEmpty)
    assert(of.op.run(Seq(row("a", 0L, 6L) -> "-D")) == Seq(row("a", 2L, 5L) -> "-D"))
    assert(of.op.run(Seq(row("a", 2L, 5L) -> "+U")).isEmpty, "older than its deletion")
  }

  test("a key whose row has expired begins anew, and its deletion is nothing") {
    val of = new Normalized(sequenced = false, ttlMs = 10L)
    of.op.run(Seq(row("a", 1L, null) -> "+I", row("b", 1L, null) -> "+I"))
    of.op.nowMs = 8L
    assert(of.op.run(Seq(row("b", 1L, null) -> "+U")).isEmpty, "the same row lives longer")
    of.op.nowMs = 11L
    assert(of.op.run(Seq(row("a", 2L, null) -> "+U", row("b", 2L, null) -> "+U")).toSet ==
      Set(row("a", 2L, null) -> "+I", row("b", 1L, null) -> "-U", row("b", 2L, null) -> "+U"))
    of.op.nowMs = 99L
    assert(of.op.run(Seq(row("a", null, null) -> "-D")).isEmpty)
  }
}

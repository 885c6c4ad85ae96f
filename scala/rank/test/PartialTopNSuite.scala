package io.firesteel.rank

import io.firesteel.testkit.TimedSuite

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.scalacheck.{Gen, Prop, Test}

/** The half below the exchange never loses a row of the answer, with any amount of memory. */
class PartialTopNSuite extends TimedSuite {

  private case class Input(k: Int, v: Long)

  /** Calls it as generated code does: rows in, rows out if there is room, then the rest. */
  private def run(
      rows: Seq[Input],
      bound: RankBound,
      cap: Long = Long.MaxValue,
      sampleRows: Int = 1000000,
      maxNewKeys: Double = 1.0): (Seq[Input], PartialTopN, CappedBudget) = {
    val budget = new CappedBudget(cap)
    val heaps = new Heaps(bound, BinaryRows.order(decisive = true), budget)
    val topN = new PartialTopN(heaps, new Verdict(sampleRows, maxNewKeys))
    val out = Seq.newBuilder[Input]
    def emit(row: UnsafeRow): Unit = out += Input(row.getInt(0), row.getLong(1))
    rows.zipWithIndex.foreach { case (Input(k, v), id) =>
      while (topN.hasNext) emit(topN.next())
      if (!topN.accepting || topN.admits(BinaryRows.key(k), v)) {
        Option(topN.take(BinaryRows.row(k, v, id.toLong))).foreach(emit)
      }
    }
    topN.finish()
    while (topN.hasNext) emit(topN.next())
    (out.result(), topN, budget)
  }

  private def answer(rows: Seq[Input], bound: RankBound): Seq[Input] =
    rows.groupBy(_.k).values.toSeq.flatMap { same =>
      val sorted = same.sortBy(_.v)
      bound.function match {
        case RankFunction.RowNumbers => sorted.take(bound.limit)
        case RankFunction.Ranks => sorted.filter(r => sorted.count(_.v < r.v) < bound.limit)
        case RankFunction.DenseRanks =>
          sorted.filter(r => sorted.map(_.v).distinct.take(bound.limit).contains(r.v))
      }
    }.sortBy(r => (r.k, r.v))

  private val bounds: Gen[RankBound] = for {
    function <- Gen.oneOf(RankFunction.RowNumbers, RankFunction.Ranks, RankFunction.DenseRanks)
    limit <- Gen.choose(1, 4)
  } yield RankBound(function, limit)

  private val inputs: Gen[Seq[Input]] = Gen.listOf(
    Gen.zip(Gen.choose(0, 5), Gen.choose(-4L, 4L)).map { case (k, v) => Input(k, v) })

  test("the output has the same first rows as the input, and no other rows than the input") {
    val property = Prop.forAll(
      inputs,
      bounds,
      Gen.oneOf(0L, 100000L, Long.MaxValue),
      Gen.choose(1, 50),
      Gen.oneOf(0.0, 0.5, 1.0)) {
      (rows, bound, cap, sample, maxNewKeys) =>
        val (out, topN, _) = run(rows, bound, cap, sample, maxNewKeys)
        val surplus = out.diff(rows)
        answer(out, bound) == answer(rows, bound) && surplus.isEmpty &&
        topN.inputRows == rows.length && topN.outputRows == out.length
    }
    val result = Test.check(Test.Parameters.default.withMinSuccessfulTests(3000), property)
    assert(result.passed, result.status)
  }

  test("with memory, emits exactly the answer") {
    val rows = (0 until 1000).map(i => Input(i % 7, (i * 37L) % 101))
    val (out, topN, budget) = run(rows, RankBound(RankFunction.RowNumbers, 3))
    assert(out.sortBy(r => (r.k, r.v)) == answer(rows, RankBound(RankFunction.RowNumbers, 3)))
    assert(!topN.steppedAside && topN.flushedRows == 0 && budget.held == 0L)
  }

  test("passes rows through for good if nearly all keys are distinct") {
    val rows = (0 until 1000).map(i => Input(i, 1L))
    val (out, topN, _) =
      run(rows, RankBound(RankFunction.RowNumbers, 1), sampleRows = 100, maxNewKeys = 0.8)
    assert(topN.steppedAside && out.length == rows.length)
  }

  test("collects rows if one of many keys has nearly all rows") {
    val rows = (0 until 1000).map(i => Input(if (i % 10 == 0) i else -1, i.toLong))
    val (_, topN, _) =
      run(rows, RankBound(RankFunction.RowNumbers, 1), sampleRows = 100, maxNewKeys = 0.8)
    assert(!topN.steppedAside)
  }

  test("collects rows if keys repeat, although all rows so far are kept") {
    val rows = (0 until 2000).map(i => Input(i % 300, i.toLong))
    val (_, topN, _) =
      run(rows, RankBound(RankFunction.RowNumbers, 3), sampleRows = 400, maxNewKeys = 0.8)
    assert(!topN.steppedAside)
  }

  test("emits rows if memory is refused, and starts again") {
    // One key has most of the rows. The other keys have one row each, and fill the memory.
    val rows = (0 until 200000).map(i => Input(if (i % 10 == 0) i else -1, i.toLong))
    val bound = RankBound(RankFunction.RowNumbers, 2)
    val (out, topN, _) = run(rows, bound, cap = 2L << 20)
    assert(topN.flushedRows > 0 && !topN.steppedAside && out.length < rows.length)
    assert(answer(out, bound) == answer(rows, bound))
  }
}

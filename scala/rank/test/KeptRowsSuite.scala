package io.firesteel.rank

import io.firesteel.testkit.TimedSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BaseOrdering
import org.scalacheck.{Gen, Prop, Test}
import org.scalatest.Assertion

/** Compares each way of keeping the first rows of a key with a sort of all rows. */
class KeptRowsSuite extends TimedSuite {

  private val functions = Seq(RankFunction.RowNumbers, RankFunction.Ranks, RankFunction.DenseRanks)

  private val offers: Gen[(Seq[Long], Int, Boolean)] = for {
    values <- Gen.listOf(Gen.choose(-6L, 6L))
    limit <- Gen.choose(1, 6)
    decisive <- Gen.oneOf(true, false)
  } yield (values, limit, decisive)

  private def naive(function: RankFunction, limit: Int, values: Seq[Long]): Seq[Long] = {
    val sorted = values.sorted
    function match {
      case RankFunction.RowNumbers => sorted.take(limit)
      case RankFunction.Ranks => sorted.filter(v => sorted.count(_ < v) < limit)
      case RankFunction.DenseRanks => sorted.filter(sorted.distinct.take(limit).contains)
    }
  }

  private def keep(function: RankFunction, limit: Int, values: Seq[Long], decisive: Boolean) = {
    val heaps =
      new Heaps(RankBound(function, limit), BinaryRows.order(decisive), new CappedBudget)
    val key = BinaryRows.key(0)
    values.zipWithIndex.foreach { case (v, id) =>
      if (heaps.admits(key, BinaryRows.prefix(v, decisive))) {
        heaps.add(BinaryRows.row(0, v, id.toLong))
      }
    }
    heaps
  }

  functions.foreach { function =>
    test(s"$function keeps, in order, what sorting everything would keep") {
      val property = Prop.forAll(offers) { case (values, limit, decisive) =>
        val heaps = keep(function, limit, values, decisive)
        val rows = BinaryRows.read(heaps)
        val kept = rows.map(_._1)
        val real = rows.forall { case (v, id, _) => values(id.toInt) == v }
        val ties = rows.map(_._3)
        kept == naive(function, limit, values) &&
        real && rows.map(_._2).distinct.length == rows.length &&
        ties == kept.indices.map(i => i > 0 && kept(i) == kept(i - 1)) &&
        heaps.size == rows.length
      }
      assertPasses(property)
    }

    test(s"$function keeps the memory of 1,000 rows of a key for 100,000 of them") {
      val values = Seq.tabulate(100000)(i => -i.toLong)
      val budget = new CappedBudget
      val heaps = new Heaps(RankBound(function, 1000), BinaryRows.order(decisive = true), budget)
      val key = BinaryRows.key(0)
      values.zipWithIndex.foreach { case (v, id) =>
        assert(heaps.admits(key, v) && heaps.add(BinaryRows.row(0, v, id.toLong)))
      }
      assert(heaps.size == 1000)
      assert(budget.peak < 800000, "descending values replace each other in place")
    }
  }

  test("a full ROW_NUMBER heap with a decisive prefix rejects ties without a comparison") {
    val heaps = keep(RankFunction.RowNumbers, 2, Seq(5L, 5L), decisive = true)
    assert(!heaps.admits(BinaryRows.key(0), 5L) && heaps.admits(BinaryRows.key(0), 4L))
  }

  test("a full RANK heap admits ties of its worst row") {
    val heaps = keep(RankFunction.Ranks, 2, Seq(5L, 5L), decisive = true)
    assert(heaps.admits(BinaryRows.key(0), 5L) && !heaps.admits(BinaryRows.key(0), 6L))
  }

  test("each key that is a number, or null, has a group") {
    val bound = RankBound(RankFunction.RowNumbers, 1)
    val heaps = new Heaps(bound, BinaryRows.order(decisive = true), new CappedBudget)
    val numbers = Seq(Long.MinValue, -1L, 0L, 1L, Long.MaxValue) ++ (2L to 5000L).map(_ << 20)
    (numbers.map(Some(_)) :+ None).foreach { key =>
      (1 to 3).foreach { v =>
        if (heaps.admits(key.getOrElse(0L), key.isEmpty, -v.toLong)) {
          heaps.add(BinaryRows.row(0, -v.toLong, 0L))
        }
      }
    }
    assert(heaps.keys == numbers.length + 1)
    assert(BinaryRows.read(heaps).map(_._1) == Seq.fill(heaps.keys)(-3L))
  }

  test("a failing comparison raises its error") {
    val broken = new BaseOrdering {
      override def compare(a: InternalRow, b: InternalRow): Int =
        throw new IllegalStateException("broken ordering")
    }
    val order = new RowOrder(broken, 3, decisive = false, edge = 0L)
    val heaps = new Heaps(RankBound(RankFunction.RowNumbers, 1), order, new CappedBudget)
    assert(heaps.admits(BinaryRows.key(0), 0L) && heaps.add(BinaryRows.row(0, 1L, 1L)))
    assert(heaps.admits(BinaryRows.key(0), 0L))
    val error = intercept[IllegalStateException](heaps.add(BinaryRows.row(0, 2L, 2L)))
    assert(error.getMessage == "broken ordering")
  }

  private def assertPasses(property: Prop): Assertion = {
    val result = Test.check(Test.Parameters.default.withMinSuccessfulTests(2000), property)
    assert(result.passed, result.status)
  }
}

package io.firesteel.rank

import org.scalacheck.{Gen, Prop, Test}
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

/** Each way of keeping the first rows of a key, against sorting all of them. */
class KeptRowsSuite extends AnyFunSuite {

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
    val order = BinaryRows.order(decisive)
    val kept = KeptRows.factory(RankBound(function, limit))(1, Array.emptyByteArray)
    val grown = values.zipWithIndex.map { case (v, id) =>
      val prefix = BinaryRows.prefix(v, decisive)
      if (prefix <= kept.bar) kept.offer(prefix, BinaryRows.row(0, v, id.toLong), order) else 0L
    }.sum
    kept.close()
    kept.sort(order)
    (kept, grown)
  }

  functions.foreach { function =>
    test(s"$function keeps, in order, what sorting everything would keep") {
      val property = Prop.forAll(offers) { case (values, limit, decisive) =>
        val (kept, _) = keep(function, limit, values, decisive)
        val rows = BinaryRows.read(kept)
        val real = rows.forall { case (v, id) => values(id.toInt) == v }
        rows.map(_._1) == naive(function, limit, values) && real && rows.distinct == rows
      }
      assertPasses(property)
    }

    test(s"$function accounts for exactly the rows it holds") {
      val property = Prop.forAll(offers) { case (values, limit, decisive) =>
        val (kept, grown) = keep(function, limit, values, decisive)
        val held = (0 until kept.size).map(kept.rowAt(_).length + KeptRows.rowOverhead).sum
        grown == held
      }
      assertPasses(property)
    }
  }

  test("a full ROW_NUMBER heap with a decisive prefix refuses ties without a comparison") {
    val (kept, _) = keep(RankFunction.RowNumbers, 2, Seq(5L, 5L), decisive = true)
    assert(kept.bar == 4L)
  }

  test("a full RANK heap lets ties of its worst row in") {
    val (kept, _) = keep(RankFunction.Ranks, 2, Seq(5L, 5L), decisive = true)
    assert(kept.bar == 5L)
  }

  test("a comparison that fails surfaces, it is not taken for an answer") {
    val broken = new org.apache.spark.sql.catalyst.expressions.BaseOrdering {
      override def compare(
          a: org.apache.spark.sql.catalyst.InternalRow,
          b: org.apache.spark.sql.catalyst.InternalRow): Int =
        throw new IllegalStateException("broken ordering")
    }
    val order = new RowOrder(broken, 3, decisive = false, edge = 0L)
    val kept = KeptRows.factory(RankBound(RankFunction.RowNumbers, 1))(1, Array.emptyByteArray)
    kept.offer(0L, BinaryRows.row(0, 1L, 1L), order)
    val error = intercept[IllegalStateException](
      kept.offer(0L, BinaryRows.row(0, 2L, 2L), order))
    assert(error.getMessage == "broken ordering")
  }

  private def assertPasses(property: Prop): Assertion = {
    val result = Test.check(Test.Parameters.default.withMinSuccessfulTests(2000), property)
    assert(result.passed, result.status)
  }
}

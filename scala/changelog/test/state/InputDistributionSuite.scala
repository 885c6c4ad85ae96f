package io.firesteel.changelog.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, AttributeReference, BindReferences, Expression}
import org.apache.spark.sql.types.{IntegerType, LongType}
import org.scalatest.funsuite.AnyFunSuite

/** How rows whose keys are null are spread. */
class InputDistributionSuite extends AnyFunSuite {

  private val (a, b, row) =
    (
      AttributeReference("a", LongType)(),
      AttributeReference("b", LongType)(),
      AttributeReference("r", LongType)())

  private def of(spread: Alias)(values: Any*): Int =
    BindReferences.bindReference(spread.child: Expression, Seq(a, b, row))
      .eval(InternalRow(values: _*)).asInstanceOf[Int]

  private val spread = InputDistribution.spread(Seq(a, b), Seq(row))

  test("rows without null keys are not spread") {
    assert((0L until 100L).map(i => of(spread)(i, 1L, i)).toSet == Set(0))
  }

  test("rows with a null in any key are spread by their other columns, the same each time") {
    Seq[(Any, Any)]((null, 1L), (1L, null), (null, null)).foreach { case (k, l) =>
      val hashes = (0L until 100L).map(i => of(spread)(k, l, i))
      assert(hashes.toSet.size > 95)
      assert(hashes == (0L until 100L).map(i => of(spread)(k, l, i)))
    }
  }

  test("without keys nothing is null") {
    assert(of(InputDistribution.spread(Nil, Seq(row)))(null, null, 5L) == 0)
    assert(spread.dataType == IntegerType && !spread.nullable)
  }

  test("the home of an aggregate of all rows is one partition of those that there are") {
    (1 to 20).foreach { n =>
      val home = WholeKey.homeOf(n)
      assert(home >= 0 && home < n && home == WholeKey.homeOf(n))
    }
    assert(WholeKey.row().numFields == 1)
  }
}

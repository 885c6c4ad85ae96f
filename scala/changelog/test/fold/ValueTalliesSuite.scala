package io.firesteel.changelog.fold

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.{Gen, Prop, Test}
import org.scalatest.funsuite.AnyFunSuite

/** Tallies of values, and what becomes of them as bytes, beside a map. */
class ValueTalliesSuite extends AnyFunSuite {

  private val toNumber = UnsafeProjection.create(Array(LongType: DataType))
  private val toText = UnsafeProjection.create(Array(StringType: DataType, LongType: DataType))

  private def row(value: Long, isNumber: Boolean): UnsafeRow =
    if (isNumber) toNumber(InternalRow(value))
    else toText(InternalRow(UTF8String.fromString("v" * (value % 19).abs.toInt), value))

  private def all(values: ValueTallies, groups: Int, tally: Int = 0): Map[(Int, Long), Long] = {
    val (order, starts) = values.byGroup(groups)
    (for {
      group <- 0 until groups
      at <- starts(group) until starts(group + 1)
      value =
        if (values.isNumber) values.number(order(at)) else values.row(order(at)).getLong(1)
    } yield (group, value) -> values.count(order(at), tally)).toMap
  }

  private val changes: Gen[Seq[(Int, Long, Long)]] = Gen.choose(0, 2000).flatMap { n =>
    Gen.listOfN(
      n,
      for {
        group <- Gen.choose(0, 3)
        value <- Gen.oneOf(Gen.choose(-40L, 40L), Gen.choose(Long.MinValue, Long.MaxValue))
        count <- Gen.oneOf(1L, 1L, -1L, 1L << 40)
      } yield (group, value, count)
    )
  }

  private def check(property: Prop): Unit = {
    val result = Test.check(Test.Parameters.default.withMinSuccessfulTests(60), property)
    val _ = assert(result.passed, result.status)
  }

  Seq(true, false).foreach { isNumber =>
    test(s"tallies are a map's, and again after clear, numbers: $isNumber") {
      val values = new ValueTallies(isNumber, tallies = 2)
      check(Prop.forAllNoShrink(changes) { added =>
        values.clear()
        added.foreach { case (g, v, c) =>
          val entry = values.of(g, row(v, isNumber))
          Seq(0, 1).foreach(tally => if (v % 3 != tally) values.addTo(entry, c, tally))
        }
        Seq(0, 1).forall { tally =>
          all(values, 4, tally) == added.groupMapReduce(a => (a._1, a._2)) { case (_, v, c) =>
            if (v % 3 != tally) c else 0L
          }(_ + _)
        }
      })
    }

    test(s"what is packed is unpacked, numbers: $isNumber") {
      check(Prop.forAllNoShrink(changes) { added =>
        val (values, again) = (new ValueTallies(isNumber), new ValueTallies(isNumber))
        added.foreach { case (g, v, c) => values.addTo(values.of(g, row(v, isNumber)), c) }
        val (order, starts) = values.byGroup(4)
        val kept = new Array[Int](order.length)
        (0 until 4).foreach { group =>
          val n = values.present(order, starts(group), starts(group + 1), tally = 0, kept)
          (0 until n by 100).foreach { at =>
            val bytes = PackedValues.pack(values, kept, at, math.min(at + 100, n))
            PackedValues.unpack(bytes, if (isNumber) 1 else 2, group, again)
          }
        }
        all(again, 4) == all(values, 4).filter(_._2 != 0L)
      })
    }
  }
}

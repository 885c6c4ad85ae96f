package io.firesteel.changelog.aggregate.slots

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DoubleType, LongType}
import org.scalatest.funsuite.AnyFunSuite

class ExactSumSuite extends AnyFunSuite {

  private def finite(random: Random): Double = random.nextInt(4) match {
    case 0 => random.nextGaussian()
    case 1 => random.nextInt(100).toDouble
    case _ =>
      val any = java.lang.Double.longBitsToDouble(random.nextLong())
      if (any.isNaN || any.isInfinite) Double.MinPositiveValue else any
  }

  test("is the nearest double to the true sum, on 2,000 random inputs") {
    val random = new Random(7)
    (1 to 2000).foreach { round =>
      val values = Seq.fill(1 + random.nextInt(8))(finite(random))
      val sum = values.foldLeft(ExactSum.zero)(_.plus(_))
      val truth = values.map(v => new java.math.BigDecimal(v)).reduce(_.add(_)).doubleValue
      assert(sum.toDouble == truth, s"round $round: $values")
      assert(ExactSum.of(sum.toBytes).toDouble == truth, s"round $round: $values")
    }
  }

  test("forgets what is taken back, whatever its size") {
    val sum = ExactSum.zero.plus(1e300).plus(1.5).plus(Double.MinPositiveValue).plus(-1e300)
    assert(sum.plus(-1.5).toDouble == Double.MinPositiveValue)
    assert(sum.plus(-1.5).plus(-Double.MinPositiveValue).isZero)
  }

  test("NaN and infinities go with their rows") {
    val slot = new FloatSumSlot(0, DoubleType)
    val state = GroupState(4, 1)
    def add(value: Double, sign: Int): Double = {
      slot.add(state, InternalRow(value), sign)
      slot.sum(state)
    }
    assert(add(1.5, 1) == 1.5)
    assert(add(Double.NaN, 1).isNaN)
    assert(add(Double.PositiveInfinity, 1).isNaN)
    assert(add(Double.NaN, -1) == Double.PositiveInfinity)
    assert(add(Double.NegativeInfinity, 1).isNaN)
    assert(add(Double.PositiveInfinity, -1) == Double.NegativeInfinity)
    assert(add(Double.NegativeInfinity, -1) == 1.5)
  }

  test("a sum of 64-bit numbers passes their bounds and comes back, on 2,000 random inputs") {
    val random = new Random(11)
    (1 to 2000).foreach { _ =>
      val slot = new LongSumSlot(0, LongType)
      val state = GroupState(3, 0)
      var truth = BigInt(0)
      (1 to 20).foreach { _ =>
        val value = random.nextInt(3) match {
          case 0 => Long.MinValue
          case 1 => Long.MaxValue
          case _ => random.nextLong()
        }
        val sign = if (random.nextBoolean()) 1 else -1
        slot.add(state, InternalRow(value), sign)
        truth += BigInt(value) * sign
        assert(BigInt(slot.sum(state)) == truth)
        assert(slot.fits(state) == truth.isValidLong)
      }
    }
  }
}

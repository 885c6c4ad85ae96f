package io.firesteel.changelog.aggregate.slots

import java.math.{BigDecimal, BigInteger}

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.{DataType, Decimal, DecimalType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

class WideTotalSuite extends AnyFunSuite {

  private val decimal = DecimalType(38, 2)
  private val toRow = UnsafeProjection.create(Array[DataType](StringType, decimal))

  private def row(number: BigInteger) = {
    val value = Decimal(new BigDecimal(number, 2), 38, 2)
    toRow(InternalRow(UTF8String.fromString("beside"), value))
  }

  private val most = BigInteger.TEN.pow(38).subtract(BigInteger.ONE)

  private def sumOf(numbers: Seq[(BigInteger, Int)]): BigInteger = {
    val total = new WideTotal
    numbers.foreach { case (number, sign) => total.add(row(number), 1, sign) }
    total.value
  }

  private def exact(numbers: Seq[(BigInteger, Int)]): BigInteger =
    numbers.map { case (number, sign) => if (sign > 0) number else number.negate }
      .foldLeft(BigInteger.ZERO)(_ add _)

  test("numbers at the ends of each number of bytes, added and taken away") {
    val ends = (0 until 126).flatMap { bits =>
      val power = BigInteger.ONE.shiftLeft(bits)
      Seq(power, power.subtract(BigInteger.ONE), power.negate, power.not)
    } :+ most :+ most.negate
    for (number <- ends; sign <- Seq(1, -1)) {
      assert(sumOf(Seq(number -> sign)) == exact(Seq(number -> sign)), number)
      val beside = Seq(BigInteger.ONE -> 1, number -> sign, BigInteger.valueOf(-3) -> -1)
      assert(sumOf(beside) == exact(beside), number)
    }
  }

  test("sums of any size, whatever comes and goes") {
    val random = new Random(17)
    for (_ <- 1 to 200) {
      val numbers = Seq.fill(random.nextInt(60)) {
        val digits = new BigInteger(1 + random.nextInt(126), random.self)
        val number =
          (if (random.nextBoolean()) digits else digits.negate).max(most.negate).min(most)
        (if (random.nextInt(4) == 0) most else number) -> (if (random.nextBoolean()) 1 else -1)
      }
      assert(sumOf(numbers) == exact(numbers), numbers)
    }
  }

  test("a sum far beyond 128 bits comes back to zero") {
    val numbers = Seq.fill(100)(most -> 1) ++ Seq.fill(100)(most -> -1)
    assert(sumOf(numbers) == BigInteger.ZERO)
    assert(sumOf(numbers.take(100)) == most.multiply(BigInteger.valueOf(100)))
  }

  test("sums of other tasks") {
    val total = new WideTotal
    val numbers = Seq(most.pow(3), most.negate, BigInteger.valueOf(7), most.pow(3).negate)
    numbers.foreach(total.add)
    assert(total.value == numbers.reduce(_ add _))
  }
}

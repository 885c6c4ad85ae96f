package io.firesteel.panes

import io.firesteel.core.rows.{MergeableAggregates, WideSum}
import io.firesteel.testkit.TimedSuite
import scala.util.{Random, Try}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, EvalMode}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Complete}
import org.apache.spark.sql.firesteel.{sumOf => sparkSum}
import org.apache.spark.sql.types.{DataType, Decimal, DecimalType, LongType}

/** Sums of panes without a plan: exact in any order, with a range check at the end. */
class WideSumSuite extends TimedSuite {

  private val (random, widest) = (new Random(3), BigInt(10).pow(38) - 1)

  /** Numbers near the ends of the range, and some small ones. */
  private def values(least: BigInt, most: BigInt): Seq[Option[BigInt]] =
    Seq.fill(random.nextInt(12)) {
      val end = if (random.nextBoolean()) least else most
      random.nextInt(4) match {
        case 0 => None
        case 1 => Some(BigInt(random.nextInt(5) - 2))
        case _ => Some(end - end.signum * random.nextInt(3))
      }
    }

  /** Adds values to several states, and merges the states. */
  private def sumOf(dataType: DataType, mode: EvalMode.Value, parts: Seq[Seq[Any]]): Try[Any] = {
    val column = AttributeReference("v", dataType)()
    val call = WideSum.of(
      AggregateExpression(
        sparkSum(column, mode),
        Complete,
        isDistinct = false))
    val aggregates = new MergeableAggregates(Seq(call), Seq(column))
    val states = parts.map { part =>
      val buffer = aggregates.newBuffer()
      part.foreach(value => aggregates.update(buffer, InternalRow(value)))
      aggregates.state(buffer).copy()
    }
    val all = aggregates.newBuffer()
    states.foreach(aggregates.merge(all, _))
    Try(aggregates.results(all).get(0, call.dataType))
  }

  private def check(dataType: DataType, least: BigInt, most: BigInt)(toSpark: BigInt => Any): Unit =
    (1 to 400).foreach { _ =>
      val parts = Seq.fill(1 + random.nextInt(4))(values(least, most))
      val numbers = parts.flatten.flatten
      val exact = numbers.sum
      val fits = exact >= least && exact <= most
      val expected = if (numbers.nonEmpty && fits) toSpark(exact) else null
      val rows = parts.map(_.map(_.map(toSpark).orNull))
      val about = s"$dataType of $parts"
      assert(sumOf(dataType, EvalMode.TRY, rows).get == expected, about)
      val strict = sumOf(dataType, EvalMode.ANSI, rows)
      if (numbers.isEmpty || fits) assert(strict.get == expected, about)
      else assert(strict.isFailure, about)
    }

  test("a sum of BIGINT is exact if it fits, whatever the order") {
    check(LongType, Long.MinValue, Long.MaxValue)(_.toLong)
  }

  test("a sum of decimals of 38 digits, and of whole numbers with a scale, is exact if it fits") {
    check(DecimalType(38, 0), -widest, widest)(n => Decimal(BigDecimal(n), 38, 0))
    check(DecimalType(38, 3), -widest, widest)(n => Decimal(BigDecimal(n, 3), 38, 3))
  }

  test("sums that cannot overflow with any number of rows remain Spark's") {
    def isWide(dataType: DataType, mode: EvalMode.Value): Boolean =
      WideSum.mayOverflow(sparkSum(AttributeReference("v", dataType)(), mode))
    assert(!isWide(LongType, EvalMode.LEGACY))
    assert(!isWide(DecimalType(28, 3), EvalMode.ANSI))
    assert(isWide(DecimalType(29, 3), EvalMode.LEGACY) && isWide(LongType, EvalMode.TRY))
  }
}

package io.firesteel.changelog.aggregate

import io.firesteel.changelog.RandomRows
import io.firesteel.changelog.state.{ClosedGroups, FoldedChanges, RowsOperator}
import io.firesteel.changelog.state.RowsOperator.row
import io.firesteel.testkit.TimedSuite

import java.time.Instant

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.{BoundReference, EvalMode, Expression, Literal}
import org.apache.spark.sql.catalyst.expressions.aggregate.{Average, Count, Max, Min, Sum}
import org.apache.spark.sql.firesteel.sumOf
import org.apache.spark.sql.types.{DataType, DecimalType, DoubleType, LongType, StringType, StructType, TimestampType}

/** Aggregates of rows that come and go, against the same computed of the rows that are there. */
class AggregateRowsSuite extends TimedSuite {

  private val keys = StructType.fromDDL("k STRING")
  private val arguments = StructType.fromDDL("v BIGINT, s STRING, d DOUBLE, w DECIMAL(30,2)")

  private def at(i: Int, t: DataType): BoundReference = BoundReference(i, t, nullable = true)
  private val (v, s, d) = (at(0, LongType), at(1, StringType), at(2, DoubleType))
  private val w = at(3, DecimalType(30, 2))

  /** A function, whether it is `DISTINCT`, and what it is of some rows. */
  private type Call = (Expression, Boolean, Seq[Seq[Any]] => Any)

  private def present[T](rows: Seq[Seq[Any]], at: Int): Seq[T] =
    rows.map(_(at + 1)).filter(_ != null).map(_.asInstanceOf[T])

  private def orNull[T](values: Seq[T])(f: Seq[T] => Any): Any =
    if (values.isEmpty) null else f(values)

  private val calls: Seq[Call] = Seq(
    (Count(Seq(Literal(1))), false, rows => rows.size.toLong),
    (Count(Seq(v)), false, present[Long](_, 0).size.toLong),
    (Count(Seq(v, s)), false, _.count(r => r(1) != null && r(2) != null).toLong),
    (Sum(v), false, rows => orNull(present[Long](rows, 0))(_.sum)),
    (Average(v), false, rows => orNull(present[Long](rows, 0))(vs => vs.sum.toDouble / vs.size)),
    (Sum(d), false, rows => orNull(present[Double](rows, 2))(floatSum)),
    (Sum(w), false, rows => orNull(present[BigDecimal](rows, 3))(_.sum.setScale(2).bigDecimal)),
    (Min(s), false, rows => orNull(present[String](rows, 1))(_.min)),
    (Max(v), false, rows => orNull(present[Long](rows, 0))(_.max)),
    (Min(d), false, rows => orNull(present[Double](rows, 2))(_.min(DoubleOrder))),
    (Max(d), false, rows => orNull(present[Double](rows, 2))(_.max(DoubleOrder))),
    (Count(Seq(v)), true, present[Long](_, 0).distinct.size.toLong),
    (Sum(v), true, rows => orNull(present[Long](rows, 0).distinct)(_.sum)),
    (Count(Seq(s)), true, present[String](_, 1).distinct.size.toLong),
    (Count(Seq(v, s)), true, _.map(_.slice(1, 3)).filterNot(_.contains(null)).distinct.size.toLong)
  )

  /** The nearest to the true sum: no order of adding shows, and no row that has gone. */
  private def floatSum(values: Seq[Double]): Double = {
    val (finite, others) = values.partition(v => !v.isNaN && !v.isInfinite)
    if (others.nonEmpty) others.sum
    else finite.map(new java.math.BigDecimal(_)).reduce(_.add(_)).doubleValue
  }

  /** Spark's: NaN is the largest. */
  private object DoubleOrder extends Ordering[Double] {
    override def compare(a: Double, b: Double): Int = java.lang.Double.compare(a, b)
  }

  private def someRow(random: Random, groups: Int): Seq[Any] = {
    def some(n: Int)(value: => Any): Any = if (random.nextInt(n) == 0) null else value
    val doubles =
      Seq(Double.NaN, Double.NegativeInfinity, Double.PositiveInfinity, 1.5, -1.5, 1e300, 4.9e-324)
    Seq(
      some(9)("k" * random.nextInt(groups)),
      some(5)(random.nextInt(12).toLong - 5),
      some(5)("s" * random.nextInt(20)),
      some(5)(doubles(if (random.nextInt(9) == 0) random.nextInt(3) else 3 + random.nextInt(4))),
      some(5)(BigDecimal(random.nextLong(), 2))
    )
  }

  private def expected(live: Seq[Seq[Any]], of: Seq[Call]): Seq[Seq[Any]] =
    live.groupBy(_.head).map { case (k, rows) => k +: of.map(_._3(rows)) }.toSeq

  private def check(
      of: Seq[Call],
      rows: RandomRows,
      op: RowsOperator,
      folded: FoldedChanges,
      batches: Int,
      size: Int): Unit =
    (1 to batches).foreach { batch =>
      val table = folded.add(op.run(rows.shuffled(size)))
      assert(FoldedChanges.bag(table) == FoldedChanges.bag(expected(rows.live.toSeq, of)), batch)
    }

  private def functions(of: Seq[Call]) = of.map { case (f, distinct, _) => (f, distinct) }

  Seq((Int.MaxValue, Int.MaxValue), (1, 1), (3, 2), (1, 50)).foreach { limits =>
    test(s"rows that come and go, as many entries at once: $limits") {
      val random = new Random(20261125)
      val op = RowsAggregate.of(keys, arguments, functions(calls), limits = limits)
      val rows = new RandomRows(random, someRow(_, 5), gone = 4)
      check(calls, rows, op, new FoldedChanges, batches = 12, size = 40)
    }
  }

  test("a group whose last row goes leaves nothing in the store") {
    val op = RowsAggregate.of(keys, arguments, functions(calls))
    val rows = new RandomRows(new Random(3), someRow(_, 5), gone = 3)
    check(calls, rows, op, new FoldedChanges, batches = 10, size = 40)
    val _ = op.run(rows.live.toSeq.map(_ -> "-D"))
    assert(op.store.size == 0)
  }

  test("without update-before rows, a group's newest row replaces the one before") {
    val op = RowsAggregate.of(keys, arguments, functions(calls), updateBefore = false)
    val rows = new RandomRows(new Random(4), someRow(_, 5), gone = 4)
    check(calls, rows, op, new FoldedChanges(Some(_.take(1))), batches = 10, size = 40)
  }

  test("rows that only come, with limits of one and of many") {
    val plain = calls.filterNot(_._2)
    Seq((1, 1), (Int.MaxValue, Int.MaxValue)).foreach { limits =>
      val op =
        RowsAggregate.of(keys, arguments, functions(plain), retracting = false, limits = limits)
      val rows = new RandomRows(new Random(5), someRow(_, 5), gone = 0)
      check(plain, rows, op, new FoldedChanges, batches = 10, size = 20)
    }
  }

  test("an aggregate of all rows has its row before any comes, and when all have gone") {
    val of = calls.take(4)
    val op = RowsAggregate.of(keys, arguments, functions(of), isGlobal = true)
    val none = row(0, 0L, 0L, 0L, null)
    assert(op.run(Nil) == Seq(none -> "+I") && op.run(Nil).isEmpty)
    val one = row(0, 5L, null, null, null)
    assert(op.run(Seq(one -> "+I")) == Seq(none -> "-U", row(0, 1L, 1L, 0L, 5L) -> "+U"))
    assert(op.run(Seq(one -> "-D")) == Seq(row(0, 1L, 1L, 0L, 5L) -> "-U", none -> "+U"))
  }

  test("what the watermark closes leaves the store, rows that come later are not looked at") {
    val hours = StructType.fromDDL("t TIMESTAMP")
    val op = RowsAggregate.of(hours, arguments, Seq((Count(Seq(v)), true), (Max(v), false)))
    def at(hour: Int, n: Long, kind: String) =
      row(Instant.ofEpochSecond(hour * 3600L), n, null, null, null) -> kind
    op.run((1 to 5).map(hour => at(hour, 7L, "+I")))
    val closed =
      ClosedGroups(keyAt = 0, rowAt = 0, TimestampType, after = 0L, watermarkMs = 3 * 3600000L)
    val told = op.runAll(Seq(Seq(at(3, 8L, "+I"), at(4, 8L, "+I"))), Some(closed))
    assert(told.map { case (its, kind) => its.tail -> kind } ==
      Seq(row(1L, 7L) -> "-U", row(2L, 8L) -> "+U"))
    assert(op.store.size == 4, "of two hours the group and its values")
  }

  test("a sum may pass a bound of its type and come back; one that stays out is an error") {
    val sum = sumOf(v, EvalMode.ANSI)
    val op = RowsAggregate.of(keys, arguments, Seq((sum, false)))
    def big(kind: String) = row("k", Long.MaxValue, null, null, null) -> kind
    assert(op.run(Seq(big("+I"), big("+I"), big("-D"))) == Seq(row("k", Long.MaxValue) -> "+I"))
    assert(intercept[ArithmeticException](op.run(Seq(big("+I")))).getMessage.contains("overflow"))
  }
}

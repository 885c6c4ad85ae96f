package io.firesteel.core.rows

import scala.util.Random

import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Cast, Expression, GreaterThan, Literal}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction, Average, CollectList, Complete, Count, First, Max, Min, Percentile, StddevSamp, Sum}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DoubleType, LongType, StringType}
import org.scalatest.funsuite.AnyFunSuite

/** Aggregates in parts, compared with the same over Scala's collections. */
class MergeableAggregatesSuite extends AnyFunSuite {

  private val (n, d, s) = (
    AttributeReference("n", LongType)(),
    AttributeReference("d", DoubleType)(),
    AttributeReference("s", StringType)())
  private val input = Seq(n, d, s)
  private val make = RowMaker("n BIGINT, d DOUBLE, s STRING")

  private type Values = Seq[Seq[Any]]
  private def of[T](rows: Values, at: Int): Seq[T] =
    rows.map(_(at)).filter(_ != null).map(_.asInstanceOf[T])
  private def orNull[T](values: Seq[T])(f: Seq[T] => Any): Any =
    if (values.isEmpty) null else f(values)

  private def call(f: AggregateFunction, filter: Option[Expression] = None) =
    AggregateExpression(f, Complete, isDistinct = false, filter)

  /** Without objects: buffers of fixed size. */
  private val fixed: Seq[(AggregateExpression, Values => Any)] = Seq(
    call(Count(Seq(n))) -> (of[Long](_, 0).size.toLong),
    call(Sum(n)) -> (rows => orNull(of[Long](rows, 0))(_.sum)),
    call(Sum(n), Some(GreaterThan(n, Literal(2L)))) ->
      (rows => orNull(of[Long](rows, 0).filter(_ > 2))(_.sum)),
    call(Average(n)) -> (rows => orNull(of[Long](rows, 0))(vs => vs.sum.toDouble / vs.size)),
    call(Max(d)) -> (rows => orNull(of[Double](rows, 1))(_.max(DoubleOrder)))
  )

  /** With strings, and with functions that keep objects. */
  private val others: Seq[(AggregateExpression, Values => Any)] = Seq(
    call(Min(s)) -> (rows => orNull(of[String](rows, 2))(_.min)),
    call(CollectList(s)) -> (of[String](_, 2)),
    call(CollectList(s), Some(GreaterThan(n, Literal(2L)))) ->
      (rows => of[String](rows.filter(r => r.head != null && r.head.asInstanceOf[Long] > 2), 2)),
    call(new Percentile(n, Literal(1.0))) ->
      (rows => orNull(of[Long](rows, 0))(_.max.toDouble)),
    call(First(n, ignoreNulls = true)) -> (rows => orNull(of[Long](rows, 0))(_.head)),
    call(StddevSamp(Cast(n, DoubleType))) -> (rows => {
      val vs = of[Long](rows, 0).map(_.toDouble)
      val mean = vs.sum / vs.size
      if (vs.size < 2) null else math.sqrt(vs.map(v => (v - mean) * (v - mean)).sum / (vs.size - 1))
    })
  )

  private object DoubleOrder extends Ordering[Double] {
    override def compare(a: Double, b: Double): Int = java.lang.Double.compare(a, b)
  }

  private def row(random: Random): Seq[Any] = Seq(
    Seq[Any](null, random.nextInt(9).toLong, -3L)(random.nextInt(3)),
    Seq[Any](null, Double.NaN, 1.5, Double.NegativeInfinity)(random.nextInt(4)),
    Seq(null, "", "é", "long " * 30 + random.nextInt(5))(random.nextInt(4))
  )

  private def check(
      aggregates: MergeableAggregates,
      buffer: InternalRow,
      rows: Values,
      calls: Seq[(AggregateExpression, Values => Any)]): Unit = {
    val results = aggregates.results(buffer)
    calls.zipWithIndex.foreach { case ((call, truth), i) =>
      val found =
        CatalystTypeConverters.convertToScala(results.get(i, call.dataType), call.dataType)
      (found, truth(rows)) match {
        case (a: Double, b: Double) if !b.isNaN && !b.isInfinite =>
          assert(math.abs(a - b) <= 1e-12 * math.abs(b), call)
        case (a: Double, b: Double) => assert(java.lang.Double.compare(a, b) == 0, call)
        case (a: scala.collection.Seq[_], b) => assert(a.toSeq == b, call)
        case (a, b) => assert(a == b, call)
      }
    }
  }

  /** The rows in parts, each part merged into the first in one of all ways. */
  private def inParts(calls: Seq[(AggregateExpression, Values => Any)]): Unit = {
    val (random, aggregates) = (new Random(6), new MergeableAggregates(calls.map(_._1), input))
    (1 to 60).foreach { round =>
      val parts = Seq.fill(1 + random.nextInt(4))(Seq.fill(random.nextInt(9))(row(random)))
      var all = aggregates.newBuffer()
      parts.foreach { rows =>
        val part = aggregates.newBuffer()
        rows.foreach(values => aggregates.update(part, make(values: _*)))
        val state = aggregates.state(part).copy()
        random.nextInt(3) match {
          case 0 => aggregates.merge(all, state)
          case 1 => aggregates.mergeBuffer(all, part)
          case _ =>
            val again = aggregates.bufferOf(state, all.copy())
            aggregates.merge(all, aggregates.state(again))
        }
        // A buffer that was written as a state can be continued.
        if (round % 2 == 0) all = aggregates.bufferOf(aggregates.state(all).copy())
      }
      check(aggregates, all, parts.flatten, calls)
    }
  }

  Seq("CODEGEN_ONLY", "NO_CODEGEN").foreach { mode =>
    test(s"rows in parts, merged in every way, $mode") {
      val conf = new SQLConf
      conf.setConfString(SQLConf.CODEGEN_FACTORY_MODE.key, mode)
      SQLConf.withExistingConf(conf) {
        inParts(fixed)
        inParts(others)
        inParts(others ++ fixed)
      }
    }
  }

  test("buffers of fixed size, and buffers with objects") {
    def aggregates(calls: Seq[(AggregateExpression, Values => Any)]) =
      new MergeableAggregates(calls.map(_._1), input)
    assert(aggregates(fixed).isFixed && !aggregates(fixed).hasObjects)
    assert(!aggregates(others).isFixed && aggregates(others).hasObjects)
    assert(aggregates(Nil).isFixed && aggregates(Nil).stateAttributes.isEmpty)
  }

  test("buffers share nothing: each new one is empty") {
    val calls = fixed ++ others
    val aggregates = new MergeableAggregates(calls.map(_._1), input)
    val (one, other) = (aggregates.newBuffer(), aggregates.newBuffer())
    aggregates.update(one, make(5L, 1.5, "x"))
    check(aggregates, other, Nil, calls)
    check(aggregates, one, Seq(Seq(5L, 1.5, "x")), calls)
    val copy = aggregates.bufferOf(aggregates.state(one).copy())
    aggregates.update(one, make(7L, 1.5, "y"))
    check(aggregates, copy, Seq(Seq(5L, 1.5, "x")), calls)
    check(aggregates, one, Seq(Seq(5L, 1.5, "x"), Seq(7L, 1.5, "y")), calls)
  }

  test("a buffer keeps its content when its input row is overwritten") {
    val aggregates = new MergeableAggregates(others.map(_._1), input)
    val buffer = aggregates.newBuffer()
    val rows = Seq("b", "a", "c").map(text => Seq[Any](1L, null, text))
    rows.foreach(values => aggregates.update(buffer, make(values: _*)))
    make(9L, null, "zzz")
    check(aggregates, buffer, rows, others)
  }
}

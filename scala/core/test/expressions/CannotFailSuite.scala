package io.firesteel.core.expressions

import org.apache.spark.sql.catalyst.expressions.{Add, And, AttributeReference, CaseWhen, Cast, Coalesce, Contains, Divide, EqualTo, EvalMode, Expression, GreaterThan, If, In, InSet, IntegralDivide, IsNotNull, Literal, Multiply, Not, Or, Remainder, ScalaUDF, Subtract, Upper}
import org.apache.spark.sql.catalyst.expressions.aggregate.{Average, Count, First, Max, MaxBy, Min, StddevSamp, Sum}
import org.apache.spark.sql.types.{DataType, DecimalType, DoubleType, FloatType, IntegerType, LongType, StringType}
import org.scalatest.funsuite.AnyFunSuite

/** Expressions that never raise an error, and parts that are always evaluated. */
class CannotFailSuite extends AnyFunSuite {

  private def column(name: String, t: DataType, nullable: Boolean = true) =
    AttributeReference(name, t, nullable)()
  private val (a, b) = (column("a", LongType), column("b", LongType))
  private val (i, d, f) =
    (column("i", IntegerType), column("d", DoubleType), column("f", FloatType))
  private val (s, w) = (column("s", StringType), column("w", DecimalType(38, 2)))
  private val zero = Literal(0L)

  private def cast(child: Expression, to: DataType, mode: EvalMode.Value) =
    Cast(child, to, Some("UTC"), mode)

  private val harmless: Seq[Expression] = Seq(
    a,
    zero,
    EqualTo(a, b),
    Not(And(GreaterThan(a, b), Or(IsNotNull(a), Contains(s, s)))),
    In(a, Seq(b, zero)),
    InSet(a, Set(1L)),
    If(EqualTo(a, b), a, b),
    CaseWhen(Seq(EqualTo(a, b) -> a), b),
    Coalesce(Seq(a, b)),
    Add(d, d),
    Multiply(f, f),
    Subtract(d, d),
    Remainder(a, Literal(7L)),
    cast(i, LongType, EvalMode.ANSI),
    cast(f, DoubleType, EvalMode.ANSI),
    cast(s, LongType, EvalMode.TRY)
  )

  private val harmful: Seq[Expression] = Seq(
    Add(a, b),
    Multiply(w, w),
    Divide(d, d),
    IntegralDivide(a, b),
    Remainder(a, b),
    Remainder(a, zero),
    Remainder(a, Literal(null, LongType)),
    cast(a, IntegerType, EvalMode.ANSI),
    cast(s, LongType, EvalMode.ANSI),
    cast(w, DecimalType(10, 2), EvalMode.LEGACY),
    Upper(s),
    ScalaUDF((x: Long) => x, LongType, Seq(a))
  )

  test("expressions that are known to have a value on every row") {
    harmless.foreach(e => assert(CannotFail(e), e))
  }

  test("expressions that may fail, and unknown ones") {
    harmful.foreach(e => assert(!CannotFail(e), e))
  }

  test("an expression with a part that may fail may fail, however deep the part is") {
    for (bad <- harmful) assert(!CannotFail(If(IsNotNull(bad), zero, zero)), bad)
    assert(!CannotFail(Coalesce(Seq(a, Add(a, b)))))
  }

  private val risky = Divide(d, d)
  private def asked(e: Expression): Expression = GreaterThan(e, Literal(1.0))

  test("a part that may fail and is always evaluated is unprotected") {
    assert(CannotFail.isUnprotected(a) && CannotFail.isUnprotected(asked(risky)))
    assert(CannotFail.isUnprotected(And(asked(risky), EqualTo(a, b))))
    assert(CannotFail.isUnprotected(If(asked(risky), a, b)))
    assert(CannotFail.isUnprotected(Coalesce(Seq(risky, d))))
  }

  test("a part behind a condition, or behind a nullable part, is protected") {
    Seq(
      Or(EqualTo(a, zero), asked(risky)),
      And(EqualTo(a, b), asked(risky)),
      If(EqualTo(a, b), risky, d),
      CaseWhen(Seq(EqualTo(a, b) -> risky)),
      Coalesce(Seq(d, risky)),
      In(d, Seq(risky)),
      GreaterThan(d, risky),
      Divide(risky, d)
    ).foreach(e => assert(!CannotFail.isUnprotected(e), e))
  }

  test(
    "a part that is also evaluated elsewhere is unprotected; so is one behind a part that is not null") {
    assert(CannotFail.isUnprotected(And(asked(risky), asked(risky))))
    assert(CannotFail.isUnprotected(GreaterThan(Literal(1.0), risky)))
    assert(CannotFail.isUnprotected(GreaterThan(column("x", DoubleType, nullable = false), risky)))
  }

  test("arguments that an aggregate function computes for each row") {
    Seq(Max(risky), Min(risky), Sum(risky), Average(risky), Count(Seq(risky)), StddevSamp(risky))
      .foreach(function => assert(CannotFail.isComputedAlways(function, risky), function))
    Seq(First(risky, ignoreNulls = true), Count(Seq(a, risky)), MaxBy(risky, a)).foreach {
      function =>
        assert(!CannotFail.isComputedAlways(function, risky), function)
        assert(CannotFail.isComputedAlways(function, a), function)
    }
  }
}

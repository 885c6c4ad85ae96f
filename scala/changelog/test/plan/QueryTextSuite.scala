package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.{Add, Alias, And, Ascending, Attribute, AttributeReference, CaseWhen, Cast, Descending, EqualTo, Expression, GetStructField, GreaterThan, InSet, Literal, NullsLast, ScalaUDF, SortOrder, Upper}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction, Complete, Count, Max, Sum}
import org.apache.spark.sql.types.{DecimalType, IntegerType, LongType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** The text of expressions that a checkpoint keeps. */
class QueryTextSuite extends AnyFunSuite {

  private def k = AttributeReference("k", LongType)()
  private def s = AttributeReference("s", StringType)()

  private def text(e: Expression, known: (Attribute, String)*): String =
    new QueryText(known.map { case (column, its) => column.exprId -> its }.toMap).of(e)

  private def call(
      f: AggregateFunction,
      distinct: Boolean = false,
      filter: Option[Expression] = None) =
    AggregateExpression(f, Complete, distinct, filter)

  private def udf(name: String): ScalaUDF =
    ScalaUDF((s: String) => s, StringType, Seq(s), udfName = Some(name))

  /** Made anew at each call: with other ids. */
  private def many: Seq[(Expression, String)] = Seq(
    k -> "k",
    Add(k, k) -> "add(k, k)",
    Alias(Add(k, k), "x")() -> "add(k, k)",
    Cast(k, IntegerType) -> "cast(k as int)",
    Cast(s, DecimalType(9, 2)) -> "cast(s as decimal(9,2))",
    Upper(s) -> "upper(s)",
    And(EqualTo(k, k), GreaterThan(k, k)) -> "and(equalto(k, k), greaterthan(k, k))",
    CaseWhen(Seq(EqualTo(k, k) -> k), Some(k)) -> "casewhen(equalto(k, k), k, k)",
    GetStructField(AttributeReference("st", StructType.fromDDL("a INT, b INT"))(), 1) -> "st.1",
    SortOrder(k, Ascending) -> "k ASC NULLS FIRST",
    SortOrder(k, Descending, NullsLast, Nil) -> "k DESC NULLS LAST",
    call(Count(Seq(k)), distinct = true) -> "distinct count(k)",
    call(Max(s), filter = Some(GreaterThan(k, k))) -> "max(s) filter greaterthan(k, k)",
    AnyAggregate(Sum(k), Some(EqualTo(k, k))) -> "sum(k) filter equalto(k, k)",
    udf("mine") -> "mine(s)"
  )

  test("texts of many expressions, which a checkpoint of today has") {
    assert(many.map(e => text(e._1)) == many.map(_._2))
  }

  test("texts are the same each time, whatever the ids") {
    val (once, again) = (many.map(_._1), many.map(_._1))
    assert(once.map(text(_)) == again.map(text(_)))
    assert(once.forall(!text(_).contains("#")))
    assert(once.map(text(_)).distinct.size == once.size - 1, "but for the alias all differ")
  }

  test("a literal is its type and a digest: what a user has written is not in it") {
    def of(value: String) = text(EqualTo(s, Literal(UTF8String.fromString(value), StringType)))
    assert(of("secret") == of("secret") && of("secret") != of("Secret"))
    assert(!of("secret").contains("secret") && of(
      "secret").matches("equalto\\(s, string:[0-9a-f]{16}\\)"))
    assert(text(Literal(1)) != text(Literal(1L)) && text(Literal(1)).startsWith("int:"))
    assert(text(Literal(null, LongType)) != text(Literal(0L)))
  }

  test("of a set of values the order is of no matter, and no value is in it") {
    def of(values: Any*) = text(InSet(k, values.toSet))
    assert(of(12345L, 2L) == of(2L, 12345L) && of(12345L) != of(12345L, 2L))
    assert(!of(12345L).contains("12345"))
  }

  test("a column is what it was computed from, whatever its name") {
    val (a, b) = (AttributeReference("a", LongType)(), AttributeReference("b", LongType)())
    assert(text(Add(a, k), a -> "count(v)") == "add(count(v), k)")
    assert(text(Add(b, k), b -> "count(v)") == "add(count(v), k)")
  }

  test("a text of any length is kept as a digest, and differs where the expressions do") {
    def nested(deep: Int, last: Expression): Expression =
      (1 to deep).foldLeft(last)((e, _) => Add(e, k))
    val (one, other) = (text(nested(200, k)), text(nested(200, s)))
    assert(one.length < 500 && one != other && one == text(nested(200, k)))
  }
}

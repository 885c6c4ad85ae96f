package io.firesteel.core.rows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, BoundReference, Descending, Literal, NullsFirst, NullsLast, SortOrder, UnsafeProjection}
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateOrdering
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

/** Numbers that sort as rows do, compared with Spark's own order of the rows. */
class OrderPrefixSuite extends AnyFunSuite {

  private def decimals(texts: String*): Seq[Any] = texts.map(BigDecimal(_))

  private val wide = Seq("99999999999999999999999999999999", "-99999999999999999999999999999999")

  /** Types with values, and whether a number holds all of a value. */
  private val columns: Seq[(String, Seq[Any], Boolean)] = Seq(
    ("BOOLEAN", Seq(true, false), true),
    ("TINYINT", Seq[Byte](Byte.MinValue, -1, 0, 1, Byte.MaxValue), true),
    ("INT", Seq(Int.MinValue, -1, 0, 1, Int.MaxValue), true),
    (
      "BIGINT",
      Seq(Long.MinValue, Long.MinValue + 1, -1L, 0L, Long.MaxValue - 1, Long.MaxValue),
      true),
    (
      "FLOAT",
      Seq(Float.NaN, Float.NegativeInfinity, -0.0f, 0.0f, 1.5f, Float.MinPositiveValue),
      true),
    (
      "DOUBLE",
      Seq(Double.NaN, Double.PositiveInfinity, -0.0, 0.0, -1.5, 4.9e-324, -4.9e-324),
      true),
    ("DATE", Seq("0001-01-01", "1970-01-01", "9999-12-31").map(java.sql.Date.valueOf), true),
    ("DECIMAL(9,2)", decimals("-1234567.89", "0.00", "0.01", "1234567.89"), true),
    ("DECIMAL(18,2)", decimals("-9999999999999999.99", "0.00", "9999999999999999.99"), false),
    (
      "DECIMAL(38,6)",
      decimals(wide.flatMap(w => Seq(s"$w.000001", s"$w.000002")) :+ "0.000001": _*),
      false),
    (
      "STRING",
      Seq("", "a", "A", "abcdefgh", "abcdefghi", "abcdefgh\u0000", "é", "\uD83D\uDE00"),
      false),
    ("STRING COLLATE UTF8_LCASE", Seq("", "a", "A", "b", "B", "abcdefghI", "ABCDEFGHi"), false),
    (
      "BINARY",
      Seq(Seq(), Seq(0), Seq(-1), Seq(0, 0), Seq(127)).map(_.map(_.toByte).toArray[Byte]),
      false),
    ("INTERVAL DAY TO SECOND", Seq(-1L, 0L, 5L).map(java.time.Duration.ofHours), true),
    ("ARRAY<INT>", Seq(Seq(1), Seq(2), Nil), false)
  )

  columns.foreach { case (ddl, values, whole) =>
    test(s"numbers sort as values of $ddl do, in either direction, nulls at either end") {
      for (direction <- Seq(Ascending, Descending); nulls <- Seq(NullsFirst, NullsLast))
        check(new RowMaker(StructType.fromDDL(s"v $ddl")), values, whole) { child =>
          SortOrder(child, direction, nulls, Nil)
        }
    }
  }

  private def check(make: RowMaker, values: Seq[Any], whole: Boolean)(
      by: BoundReference => SortOrder): Unit = {
    val order = Seq(by(BoundReference(0, make.schema.head.dataType, nullable = true)))
    val prefix = OrderPrefix.of(order)
    val toPrefix = UnsafeProjection.create(Seq(prefix.expression))
    val rows = (null +: values).map(make(_).copy())
    val numbers = rows.map(toPrefix(_).getLong(0))
    val ordering = GenerateOrdering.generate(order)
    assert(!prefix.expression.nullable && prefix.decisive == whole)
    assert(numbers.head == prefix.edge || numbers.forall(_ == 0L), "or the type has no number")
    for (a <- rows.indices; b <- rows.indices) {
      val (byRow, byNumber) = (ordering.compare(rows(a), rows(b)), numbers(a).compare(numbers(b)))
      // Less in one order is less or equal in the other.
      assert(byRow.sign * byNumber.sign >= 0, s"$order: ${rows(a)} and ${rows(b)}")
      if (prefix.decisive && byNumber == 0 && numbers(a) != prefix.edge) assert(byRow == 0)
    }
    val _ = assert(rows == (null +: values).map(make(_).copy()), "a number changes no row")
  }

  test("a first order key is decisive only alone, and without an order all rows are equal") {
    val child = BoundReference(0, StructType.fromDDL("v INT").head.dataType, nullable = true)
    val order = SortOrder(child, Ascending)
    assert(OrderPrefix.of(Seq(order)).decisive && !OrderPrefix.of(Seq(order, order)).decisive)
    val none = OrderPrefix.of(Nil)
    assert(none.decisive && none.expression == Literal(0L))
    assert(none.expression.eval(InternalRow.empty) != none.edge)
  }
}

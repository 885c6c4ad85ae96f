package io.firesteel.core.rows

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Add, BoundReference, UnsafeProjection}
import org.apache.spark.sql.types.{DataType, Decimal, LongType, StructType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** Projections that were made before, compared with Spark's. */
class ColumnProjectionSuite extends AnyFunSuite {

  private val schema = StructType.fromDDL(
    "a STRING, b BIGINT, c DOUBLE, d DECIMAL(30, 2), e DECIMAL(9, 3), f BOOLEAN, g BINARY, h DATE, " +
      "i TIMESTAMP, j STRUCT<x: INT, y: STRING>, k ARRAY<STRING>, l TINYINT, m FLOAT")

  private val rows: Seq[InternalRow] = Seq(
    InternalRow.fromSeq(schema.map(_ => null)),
    InternalRow(
      UTF8String.fromString("é" * 40),
      Long.MinValue,
      -0.0,
      Decimal(BigDecimal("12345678901234567890.12"), 30, 2),
      Decimal(BigDecimal("1.234"), 9, 3),
      true,
      Array[Byte](0, -1),
      7,
      -1L,
      InternalRow(1, UTF8String.fromString("y")),
      new org.apache.spark.sql.catalyst.util.GenericArrayData(Array[Any](null)),
      (-1).toByte,
      Float.NaN
    )
  )

  private def columns(random: Random): Seq[BoundReference] =
    Seq.fill(random.nextInt(6))(random.nextInt(schema.size)).map { i =>
      BoundReference(i, schema(i).dataType, nullable = true)
    }

  test("columns of every type, chosen at random") {
    val random = new Random(1)
    for (_ <- 0 until 60; chosen = columns(random); _ <- 0 until 2; row <- rows)
      assert(
        ColumnProjection(chosen)(row) == UnsafeProjection.create(chosen)(row),
        s"$chosen of $row")
  }

  test("a class is found by its columns, and its projections share no row") {
    val flat = Seq(0, 3).map(i => BoundReference(i, schema(i).dataType, nullable = true))
    val (one, other) = (ColumnProjection(flat), ColumnProjection(flat))
    assert(ColumnProjection.knows(flat) && (one ne other))
    val of = one(rows(1))
    val before = of.copy()
    val _ = other(rows.head)
    assert(of == before)
  }

  test("what is computed or nested is Spark's") {
    val (column, types) = (BoundReference(1, LongType, nullable = true), Array[DataType](LongType))
    assert(ColumnProjection(Seq(Add(column, column)))(InternalRow(null, 2L)).getLong(0) == 4L)
    assert(!ColumnProjection.knows(Seq(BoundReference(10, schema(10).dataType, nullable = true))))
    assert(ColumnProjection(types)(InternalRow(5L)).getLong(0) == 5L)
  }
}

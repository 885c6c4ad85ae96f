package io.firesteel.lookup

import io.firesteel.core.errors.FiresteelException
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Literal, UnsafeProjection}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, StructField, StructType}
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

/** Keys of every type, as a row stores them. */
class KeyTextSuite extends AnyFunSuite {

  private val values: Seq[(String, Any, String)] = Seq(
    ("BOOLEAN", true, "true"),
    ("TINYINT", 1.toByte, "1Y"),
    ("SMALLINT", 1.toShort, "1S"),
    ("INT", 5, "5"),
    ("BIGINT", 5L, "5L"),
    ("FLOAT", 1.5f, "CAST('1.5' AS FLOAT)"),
    ("DOUBLE", 1.5, "1.5D"),
    ("DECIMAL(10,2)", new java.math.BigDecimal("1.50"), "1.50"),
    ("STRING", "it's", "'it\\'s'"),
    ("BINARY", Array[Byte](1, 2), "X'0102'"),
    ("DATE", java.time.LocalDate.parse("2026-01-31"), "DATE '2026-01-31'"),
    (
      "TIMESTAMP",
      java.time.Instant.parse("2026-01-31T10:15:00Z"),
      "TIMESTAMP '2026-01-31 10:15:00'"),
    (
      "TIMESTAMP_NTZ",
      java.time.LocalDateTime.parse("2026-01-31T10:15:00"),
      "TIMESTAMP_NTZ '2026-01-31 10:15:00'"),
    ("INTERVAL DAY TO SECOND", java.time.Duration.ofDays(1), "INTERVAL '1 00:00:00'"),
    ("INTERVAL YEAR TO MONTH", java.time.Period.ofMonths(14), "INTERVAL '1-2'"),
    ("STRUCT<a: INT, b: STRING>", Row(7, "z"), "{7, z}"),
    ("ARRAY<INT>", Seq(7, 8), "[7, 8]"),
    ("ARRAY<STRUCT<at: TIMESTAMP>>", Seq(Row(java.time.Instant.EPOCH)), "[{1970-01-01 00:00:00}]")
  )

  /** The value as a key has it: in an unsafe row. */
  private def keyOf(dataType: DataType, value: Any): InternalRow = {
    val held = CatalystTypeConverters.createToCatalystConverter(dataType)(value)
    UnsafeProjection.create(Array(dataType)).apply(InternalRow(held))
  }

  private def inUtc(body: => Assertion): Assertion = {
    val conf = new SQLConf
    conf.setConfString("spark.sql.session.timeZone", "UTC")
    SQLConf.withExistingConf(conf)(body)
  }

  for ((ddl, value, text) <- values) {
    val dataType = DataType.fromDDL(ddl)

    test(s"a key of type $ddl is shown") {
      inUtc {
        val schema = StructType(Seq(StructField("k", dataType)))
        val shown = KeyText.of(keyOf(dataType, value), schema)
        assert(shown.startsWith(s"k = $text"))
      }
    }

    test(s"a partition that does not exist is an error for a key of type $ddl, too") {
      inUtc {
        val key = BoundReference(0, dataType, nullable = true)
        val checked = CheckedPartition(Literal(-1), Literal(0), Seq(key), "customers", 4)
        val thrown = intercept[FiresteelException](checked.eval(keyOf(dataType, value)))
        assert(thrown.getCondition == "FIRESTEEL_LOOKUP_BAD_PARTITION")
        assert(thrown.getMessage.contains(text))
      }
    }
  }

  test("a null in a key that was not asked is shown") {
    val schema = StructType.fromDDL("a INT, s STRUCT<x: INT>")
    assert(KeyText.of(InternalRow(null, null), schema).contains("NULL"))
  }
}

package io.firesteel.json

import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}

import Comparison.{failing, field, fromJson, get, tuple}
import io.firesteel.testkit.TimedSuite

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types.{DataType, StructType}
import org.scalatest.Assertion

/** One scan writes the rows of Spark's expressions, byte for byte. */
class SameRowsSuite extends TimedSuite {

  private val types = Seq(
    "STRING",
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(5,2)",
    "DECIMAL(18,0)",
    "DECIMAL(18,18)",
    "DECIMAL(38,6)",
    "DATE",
    "TIMESTAMP",
    "TIMESTAMP_NTZ",
    "BINARY",
    "ARRAY<BINARY>",
    "STRING COLLATE UTF8_LCASE",
    "ARRAY<INT>",
    "ARRAY<STRING>",
    "ARRAY<BOOLEAN>",
    "ARRAY<DECIMAL(38,2)>",
    "ARRAY<ARRAY<BIGINT>>",
    "ARRAY<STRUCT<a: INT, b: STRING>>",
    "MAP<STRING, STRING>",
    "MAP<STRING, INT>",
    "MAP<STRING, STRUCT<a: STRING>>",
    "STRUCT<a: INT>",
    "STRUCT<b: STRING, a: STRING>",
    "STRUCT<a: STRUCT<a: DOUBLE>, b: ARRAY<INT>>"
  )

  private val documents: Seq[Array[Byte]] =
    Documents.all.map(_.getBytes(UTF_8)) ++ Malformed.all.map(_.getBytes(ISO_8859_1))

  private def check(expressions: Expression*): Assertion = {
    val comparison = new Comparison(expressions)
    val differences = documents.flatMap(comparison.difference)
    assert(differences.isEmpty, s"${differences.length}: ${differences.take(5).mkString("\n")}")
    assert(comparison.read > 100, "the fast path read hardly anything")
  }

  for (sqlType <- types) test(s"a field of $sqlType") {
    val _ = check(field(s"a $sqlType"))
    val _ = check(fromJson(s"a $sqlType"), fromJson(s"b STRING, a $sqlType, x $sqlType"))
    check(failing(s"a $sqlType"))
  }

  test("arrays and maps at the root") {
    for (sqlType <- Seq("INT", "STRING", "STRUCT<a: INT>", "ARRAY<INT>")) {
      val comparison = new Comparison(Seq(
        fromJson(DataType.fromDDL(s"ARRAY<$sqlType>")),
        fromJson(DataType.fromDDL(s"MAP<STRING, $sqlType>"))))
      val differences = documents.flatMap(comparison.difference)
      val _ = assert(differences.isEmpty, differences.take(5).mkString("\n"))
    }
  }

  test("paths") {
    val _ = check(get("$.a"))
    val _ = check(get("$.a"), get("$.b"), get("$.b.a"), get("$.a.a.a"), get("$['c']"))
    check(get("$.a[0]"), get("$.a[1]"), get("$.c[0]"), get("$[0]"), get("$[0].a"), get("$.b.c[0]"))
  }

  test("tuples") {
    val _ = check(tuple("a"))
    check(tuple("a", "b", "c", "a"), tuple("c", "missing"))
  }

  test("all functions over one document") {
    check(
      field("a STRING"),
      fromJson("a INT, b STRUCT<a: STRING>"),
      get("$.a"),
      tuple("b", "a"),
      get("$.b.a"),
      field("c ARRAY<STRING>"))
  }

  test("a column for corrupt records") {
    val _ = check(fromJson("a INT, _corrupt_record STRING, b STRING"))
    val _ = check(fromJson("_corrupt_record STRING"))
    check(
      fromJson(
        StructType.fromDDL("a INT, bad STRING"),
        Map("columnNameOfCorruptRecord" -> "bad")))
  }

  test("options that allow more") {
    val more = Seq(
      "allowComments",
      "allowUnquotedFieldNames",
      "allowNumericLeadingZeros",
      "allowBackslashEscapingAnyCharacter",
      "allowUnquotedControlChars")
    val _ = check(fromJson(StructType.fromDDL("a STRING, b INT"), more.map(_ -> "true").toMap))
    check(
      fromJson(
        StructType.fromDDL("a DOUBLE, b INT"),
        Map("allowSingleQuotes" -> "false", "allowNonNumericNumbers" -> "false")))
  }
}

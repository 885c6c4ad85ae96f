package io.firesteel.testkit

import org.apache.spark.sql.SparkSession

/**
 * Rows that break careless operators: nulls, NaN, both zeros, ties, duplicates, extremes, empty
 * strings, collated strings, nested values and a map.
 */
object AwkwardRows {

  /** Columns by which SQL can sort and group, with their types. */
  val sortable: Seq[(String, String)] = Seq(
    "bo" -> "BOOLEAN",
    "by" -> "TINYINT",
    "sh" -> "SMALLINT",
    "i" -> "INT",
    "l" -> "BIGINT",
    "f" -> "FLOAT",
    "d" -> "DOUBLE",
    "small" -> "DECIMAL(9,2)",
    "wide" -> "DECIMAL(38,6)",
    "s" -> "STRING",
    "ci" -> "STRING COLLATE UTF8_LCASE",
    "uni" -> "STRING COLLATE UNICODE_CI",
    "bin" -> "BINARY",
    "day" -> "DATE",
    "ts" -> "TIMESTAMP",
    "ntz" -> "TIMESTAMP_NTZ",
    "ym" -> "INTERVAL YEAR TO MONTH",
    "dt" -> "INTERVAL DAY TO SECOND",
    "arr" -> "ARRAY<DOUBLE>",
    "st" -> "STRUCT<a: DOUBLE, b: STRING>"
  )

  val columns: Seq[String] = sortable.map(_._1)

  /** A view of `rows` rows. Equal values are frequent, and each type's awkward values occur. */
  def createView(spark: SparkSession, name: String, rows: Int, seed: Int = 1): Unit = {
    def pick(salt: Int, values: String*): String = {
      val place = s"CAST(pmod(hash(id, $salt, $seed), ${values.length}) AS INT)"
      values.zipWithIndex.map { case (v, at) => s"WHEN $at THEN $v" }.mkString(
        s"CASE $place ",
        " ",
        " END")
    }
    val values = Map(
      "bo" -> pick(1, "true", "false", "NULL"),
      "by" -> pick(2, "-128", "127", "0", "NULL"),
      "sh" -> pick(3, "-32768", "32767", "0", "NULL"),
      "i" -> pick(4, "-2147483648", "2147483647", "0", "1", "NULL"),
      "l" -> pick(5, "-9223372036854775807L - 1L", "9223372036854775807L", "0L", "7L", "NULL"),
      "f" -> pick(6, "CAST('NaN' AS FLOAT)", "CAST('-Infinity' AS FLOAT)", "-0.0F", "0.0F", "NULL"),
      "d" -> pick(
        7,
        "CAST('NaN' AS DOUBLE)",
        "CAST('Infinity' AS DOUBLE)",
        "-0.0D",
        "0.0D",
        "-1.5D",
        "4.9E-324D",
        "NULL"),
      "small" -> pick(8, "1234567.89", "-1234567.89", "0", "NULL"),
      "wide" -> pick(
        9,
        "99999999999999999999999999999999.000001",
        "99999999999999999999999999999999.000002",
        "-99999999999999999999999999999999.999999",
        "0.000001",
        "NULL"),
      "s" -> pick(10, "''", "'a'", "'A'", "'abcdefgh'", "'abcdefghi'", "'abcdefgh\\u0000'", "NULL"),
      "ci" -> pick(11, "'a'", "'A'", "'b'", "'B'", "''", "NULL"),
      "uni" -> pick(12, "'é'", "'É'", "'e'", "'z'", "NULL"),
      "bin" -> pick(13, "X''", "X'FF'", "X'00'", "X'0000'", "X'7F'", "NULL"),
      "day" -> pick(14, "DATE'0001-01-01'", "DATE'9999-12-31'", "DATE'1970-01-01'", "NULL"),
      "ts" -> pick(15, "TIMESTAMP'1582-10-15 00:00:00'", "TIMESTAMP'2026-11-21 01:30:00'", "NULL"),
      "ntz" -> pick(
        16,
        "TIMESTAMP_NTZ'1969-12-31 23:59:59.999999'",
        "TIMESTAMP_NTZ'2026-01-01'",
        "NULL"),
      "ym" -> pick(17, "INTERVAL '-1-2' YEAR TO MONTH", "INTERVAL '10-0' YEAR TO MONTH", "NULL"),
      "dt" -> pick(18, "INTERVAL '-1' DAY", "INTERVAL '1 2:3:4.5' DAY TO SECOND", "NULL"),
      "arr" -> pick(
        19,
        "array()",
        "array(0.0D)",
        "array(-0.0D)",
        "array(CAST(NULL AS DOUBLE))",
        "array(CAST('NaN' AS DOUBLE), 1D)",
        "NULL"),
      "st" -> pick(
        20,
        "named_struct('a', 0.0D, 'b', 'x')",
        "named_struct('a', -0.0D, 'b', 'x')",
        "named_struct('a', CAST('NaN' AS DOUBLE), 'b', NULL)",
        "NULL")
    )
    val typed = sortable.map { case (column, t) => s"CAST(${values(column)} AS $t) AS $column" }
    spark
      .sql(s"SELECT ${typed.mkString(",\n")}, map('k', id % 3) AS m, id FROM range(0, $rows, 1, 3)")
      .createOrReplaceTempView(name)
  }
}

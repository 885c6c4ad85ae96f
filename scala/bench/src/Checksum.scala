package io.firesteel.bench

import org.apache.spark.sql.Row

/** Two numbers for a bag of rows of whole numbers, which any SQL engine can compute. */
final case class Checksum(rows: Long, digest: Long) {

  def +(other: Checksum): Checksum = Checksum(rows + other.rows, digest + other.digest)

  override def toString: String = f"$rows%,d rows, checksum $digest"
}

object Checksum {

  val none: Checksum = Checksum(0, 0)

  /** So small that no sum of a billion rows overflows. */
  private val modulus = "CAST(1000003 AS BIGINT)"

  /** A query of one row over `rows`, with the two numbers. */
  def of(columns: Seq[String], rows: String): String =
    s"SELECT COUNT(*) AS row_count, SUM(${hash(columns)}) AS digest FROM $rows"

  /** The same for a changelog: retractions count negatively, so the sum is that of the table. */
  def ofChanges(columns: Seq[String], kind: String): Seq[String] = {
    val sign = s"IF($kind IN ('+I', '+U'), 1L, -1L)"
    Seq(s"coalesce(sum($sign), 0L)", s"sum($sign * ${hash(columns)})")
  }

  /** The one row of such a query. Without rows there is no sum. */
  def read(row: Row): Checksum =
    Checksum(row.getLong(0), if (row.isNullAt(1)) 0L else row.getLong(1))

  /** Each column has another factor, so swapped values change the sum. No column: only rows count. */
  private def hash(columns: Seq[String]): String = {
    val terms = columns.zipWithIndex.map { case (column, i) =>
      s"MOD($column, $modulus) * ${(i + 1) * 7919}"
    }
    if (terms.isEmpty) "CAST(0 AS BIGINT)" else s"MOD(${terms.mkString(" + ")}, $modulus)"
  }
}

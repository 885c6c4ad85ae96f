package io.firesteel.core.rows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, NamedExpression, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan}

/**
 * Reads the key of a row of `input` and finds its group. Keys that need computing are best computed
 * below, in a projection for which Spark generates code together with the scan: here a number is
 * then read from its place in the row.
 */
private[firesteel] final class KeyReader(keys: Seq[Attribute], input: Seq[Attribute]) {

  private[this] val word = keys match {
    case Seq(key) => WordColumn.of(Seq(KeyReader.placeOf(key, input)), Seq(key.dataType))
    case _ => null
  }
  private[this] val keyOf: UnsafeProjection =
    if (word == null) ColumnProjection(keys, input) else null

  /** The group of a row's key. */
  def groupOf(row: UnsafeRow, index: KeyIndex): Int =
    if (word == null) index.of(keyOf(row))
    else if (word.isNull(row)) index.ofNull()
    else index.of(word(row))
}

private[firesteel] object KeyReader {

  /** The place of a column in a row. */
  def placeOf(column: Attribute, input: Seq[Attribute]): Int = {
    val at = input.indexWhere(_.exprId == column.exprId)
    require(at >= 0, s"$column is none of ${input.mkString(", ")}")
    at
  }

  /** A projection to these columns without duplicates. */
  def project(columns: Seq[NamedExpression], child: SparkPlan): SparkPlan =
    ProjectExec(columns.distinctBy(_.exprId), child)

  /** The rows in Spark's binary format, even if a redundant projection was removed. */
  def unsafe(rows: Iterator[InternalRow], input: Seq[Attribute]): Iterator[UnsafeRow] = {
    lazy val toUnsafe = ColumnProjection(input, input)
    rows.map {
      case row: UnsafeRow => row
      case row => toUnsafe(row)
    }
  }
}

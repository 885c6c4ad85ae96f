package io.firesteel.core.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.{DataType, DateType, IntegerType}

/**
 * Reads a column as the number that a [[KeyIndex]] has for it, without a copy of the column as a row.
 *
 * Spark's rows have zeros in the bytes that a value of less than eight bytes leaves. Rows of another
 * engine may have the sign there, so they are not read.
 */
private[firesteel] final class WordColumn private (at: Int, isInteger: Boolean) {

  def isNull(row: UnsafeRow): Boolean = row.isNullAt(at)

  /** The number of a value that is not null. */
  def apply(row: UnsafeRow): Long =
    if (isInteger) KeyIndex.word(row.getInt(at)) else row.getLong(at)
}

private[firesteel] object WordColumn {

  /** The one column at these places if it can be read so; otherwise null. */
  def of(places: Seq[Int], types: Seq[DataType]): WordColumn = (places, types) match {
    case (Seq(at), Seq(IntegerType | DateType)) => new WordColumn(at, isInteger = true)
    case (Seq(at), Seq(its)) if KeyIndex.fitsWord(its) && its.defaultSize == 8 =>
      new WordColumn(at, isInteger = false)
    case _ => null
  }
}

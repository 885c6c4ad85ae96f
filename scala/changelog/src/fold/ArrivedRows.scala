package io.firesteel.changelog.fold

import io.firesteel.core.rows.ColumnProjection

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.{DataType, LongType, StructField, StructType}

/**
 * Names for rows that are written once: the version of the store that a micro-batch starts from, and
 * a number. A micro-batch that is repeated starts from the same version, without the rows of the
 * first attempt.
 */
final private[changelog] class ArrivedRows(version: Long) {

  private[this] val toEntry = ColumnProjection(Array[DataType](LongType, LongType))
  private[this] var number = 0L

  def next(): UnsafeRow = {
    number += 1
    toEntry(InternalRow(version, number))
  }
}

private[changelog] object ArrivedRows {
  val entry: StructType =
    StructType(Seq(StructField("version", LongType), StructField("number", LongType)))
}

package io.firesteel.rank

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.{IntegerType, StructField, StructType}

/**
 * Emits numbered rows as binary rows, with the requested rank columns appended.
 *
 * @param numbering reads the input. It is called for the first row, so that the second side of a
 *   join fills no memory before the first side has been read.
 * @param input columns of the numbered rows
 * @param functions the rank columns; if empty, rows are unchanged
 */
private[rank] final class RankedRowIterator(
    numbering: () => NumberedRows,
    input: Seq[Attribute],
    functions: Seq[RankFunction],
    outputRows: SQLMetric)
  extends Iterator[InternalRow] {

  private[this] val wanted = functions.toArray
  private[this] val ranks = RankedRowIterator.fixedRow(wanted.length)
  private[this] lazy val joiner = GenerateUnsafeRowJoiner.create(
    DataTypeUtils.fromAttributes(input),
    StructType(functions.map(f => StructField(f.sqlName, IntegerType, nullable = false))))
  private[this] var numbered: NumberedRows = _
  private[this] var looked = false
  private[this] var more = true

  override def hasNext: Boolean = {
    if (!looked && more) {
      if (numbered == null) numbered = numbering()
      looked = true
      more = numbered.advance()
    }
    more
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more rows")
    looked = false
    outputRows += 1
    if (wanted.length == 0) numbered.row
    else {
      var i = 0
      while (i < wanted.length) {
        ranks.setInt(i, numbered.ranks.value(wanted(i)))
        i += 1
      }
      joiner.join(numbered.row, ranks)
    }
  }
}

private[rank] object RankedRowIterator {

  /** A binary row of `n` integers that can be set in place. */
  private def fixedRow(n: Int): UnsafeRow = {
    val bytes = new Array[Byte](UnsafeRow.calculateBitSetWidthInBytes(n) + 8 * n)
    val row = new UnsafeRow(n)
    row.pointTo(bytes, bytes.length)
    row
  }
}

package io.firesteel.changelog.tablejoin

import io.firesteel.core.rows.ColumnProjection

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression, GenericInternalRow, JoinedRow, UnsafeProjection}
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.firesteel.PartitionRows

/** Executes [[ChangelogMatches]]. */
final private[changelog] case class ChangelogMatchesExec(
    columns: Seq[Attribute],
    number: Attribute,
    isThere: Attribute,
    element: Expression,
    matches: Attribute,
    child: SparkPlan)
  extends UnaryExecNode {

  override def nodeName: String = "ChangelogMatches"
  override def argString(maxFields: Int): String = matches.toString
  override def output: Seq[Attribute] = columns :+ matches
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def producedAttributes: AttributeSet = AttributeSet(matches)

  override protected def doExecute(): RDD[InternalRow] = {
    val (in, kept, found, all) = (child.output, columns, element, matches)
    val numberAt = in.indexWhere(_.exprId == number.exprId)
    val isThereAt = in.indexWhere(_.exprId == isThere.exprId)
    val width = element.dataType.asInstanceOf[StructType].length
    PartitionRows.mapped(child.execute()) { rows =>
      new RowsWithMatches(
        rows.buffered,
        numberAt,
        isThereAt,
        ColumnProjection(kept, in),
        ColumnProjection(Seq(found), in),
        width,
        ColumnProjection(kept :+ all, kept :+ all)
      )
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
    copy(child = newChild)
}

/**
 * Combines consecutive rows with one number into one row; it holds the matches of one row.
 *
 * @param width number of columns of a match
 */
final private class RowsWithMatches(
    rows: collection.BufferedIterator[InternalRow],
    numberAt: Int,
    isThereAt: Int,
    toRow: UnsafeProjection,
    toMatch: UnsafeProjection,
    width: Int,
    toOutput: UnsafeProjection)
  extends Iterator[InternalRow] {

  private[this] val joined = new JoinedRow
  private[this] val matches = new GenericInternalRow(1)

  override def hasNext: Boolean = rows.hasNext

  override def next(): InternalRow = {
    // Read before the input advances: its next row may overwrite this one.
    val number = rows.head.getLong(numberAt)
    val row = toRow(rows.head).copy()
    val found = ArrayBuffer.empty[Any]
    while (rows.hasNext && rows.head.getLong(numberAt) == number) {
      val one = rows.next()
      if (!one.isNullAt(isThereAt)) found += toMatch(one).getStruct(0, width).copy()
    }
    matches.update(0, if (found.isEmpty) null else new GenericArrayData(found.toArray))
    toOutput(joined(row, matches))
  }
}
